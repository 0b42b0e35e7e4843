"""The words for a password and a key in other languages than English, and what stands between them and a value.

One line for each language, in lower case; `_` stands for a space. A word may be the beginning of one, so that its
endings need not be listed.
"""

from __future__ import annotations

from zaxy.tuples import NamedTuple


class Words(NamedTuple):
    """Of one language. In each text, a space is between two words."""

    passwords: str
    keys: str
    links: str


SPACED = {
    "Arabic": Words("كلمة_المرور كلمة_مرور كلمة_السر الرقم_السري الرمز_السري", "مفتاح الرمز_المميز", "هي هو إلى الى"),
    "Armenian": Words("գաղտնաբառ", "", "է"),
    "Basque": Words("pasahitz", "", "da"),
    "Bulgarian": Words("парола", "ключ", "е беше на"),
    "Catalan": Words("contrasenya", "", "és era a"),
    "Czech": Words("heslo", "klíč", "je bylo na"),
    "Danish": Words("adgangskode kodeord", "nøgle", "er var til"),
    "Dutch": Words("wachtwoord", "sleutel", "is was luidt naar"),
    "Finnish": Words("salasana", "avain avaime", "on oli"),
    "French": Words("mot_de_passe mots_de_passe code_secret", "clé clef jeton", "est était sera en à"),
    "German": Words("passwort kennwort", "schlüssel", "ist war lautet lautete auf"),
    "Greek": Words("κωδικός κωδικό συνθηματικ", "κλειδί", "είναι ήταν σε"),
    "Hebrew": Words("סיסמה הסיסמה סיסמא הסיסמא סיסמת", "מפתח", "היא הוא זה ל"),
    "Hindi": Words("पासवर्ड कूटशब्द पासकोड", "कुंजी टोकन", "है"),
    "Hungarian": Words("jelszó jelszava jelszav", "kulcs", "lett lesz"),
    "Indonesian": Words("kata_sandi sandi", "kunci", "adalah ialah menjadi"),
    "Irish": Words("pasfhocal focal_faire", "", "ná"),
    "Italian": Words("parola_d'ordine parola_chiave", "chiave", "è era in"),
    "Lithuanian": Words("slaptažod", "raktas", "yra buvo į"),
    "Nepali": Words("पासवर्ड", "", "हो"),
    "Norwegian": Words("passord", "nøkkel", "er var til"),
    "Persian": Words("رمز_عبور گذرواژه کلمه_عبور پسورد", "کلید", "است به"),
    "Polish": Words("hasło hasła haslo", "klucz", "to jest brzmi było na"),
    "Portuguese": Words("senha palavra-passe palavra_passe", "chave", "é era foi será para"),
    "Romanian": Words("parola parolă", "cheia cheie", "este e era în"),
    "Russian": Words("парол", "ключ токен", "это был теперь на —"),
    "Serbian": Words("lozink лозинк šifra", "ključ кључ", "je је na на"),
    "Slovak": Words("heslo", "kľúč", "je bolo na"),
    "Spanish": Words("contraseña contrasena clave", "llave", "es era será fue a"),
    "Swedish": Words("lösenord", "nyckel", "är var till"),
    "Tamil": Words("கடவுச்சொல்", "", "என்பது"),
    "Turkish": Words("şifre sifre parola", "anahtar", "olarak şudur"),
    "Ukrainian": Words("парол", "ключ токен", "це був на —"),
    "Vietnamese": Words("mật_khẩu", "khóa", "là thành"),
    "Yiddish": Words("פּאַראָל", "", "איז"),
}
UNSPACED = {
    "Chinese": Words("密码 密碼 口令 暗号", "密钥 密鑰 令牌", "是 为 為 就是 成 成了 改为 改為 设为 設為"),
    "Japanese": Words("パスワード 暗証番号 合言葉 パスフレーズ", "apiキー アクセスキー 秘密鍵 トークン", "は が を も"),
    "Korean": Words("비밀번호 암호 패스워드", "토큰 비밀키 api키 api_키", "는 은 가 이 를 을"),
    "Thai": Words("รหัสผ่าน", "โทเค็น", "คือ เป็น"),
}
JOINING = ("Danish", "Dutch", "Finnish", "German", "Norwegian", "Swedish")
"""Languages that write other words right before these: `Datenbankpasswort`."""
