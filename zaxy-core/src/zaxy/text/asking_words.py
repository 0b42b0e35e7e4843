"""Words of asking, kept by hand, at most 60 a language: by what a sentence asks, not what it asks about.

A request begins a clause that asks for information, wherever the clause stands; others request it only if a question
word follows. A question word begins a sentence that asks: one that also begins statements stands here with the word
behind it. The unended ask at the beginning of a sentence that no full stop ends, because with one they tell as often.
Those and the last words ask at the end of a short sentence too. In some languages a question word may stand anywhere.
Beside a word of telling none of them asks. An ending ends a sentence that asks; with a space before it, it is a word of
its own. Phrases are parted by commas, and written as people write them.
"""

from __future__ import annotations

from zaxy.text.tokens import folded

_REQUESTS = """
english: tell me, tell us, do you know, do you remember, do you recall, do you have any idea, find out, look up,
    i wonder, i was wondering, i am wondering, i'm wondering, i'd like to know, i would like to know,
    i want to know, i need to know, we need to know, i am curious, i'm curious, any idea, any ideas, any news,
    any update, any updates, any clue, would you happen to know, help me understand, help me find,
    help me remember, help me recall, quick question, explain to me, explain to us, show me, show us,
    what about, how about, how come
spanish: dime, dígame, cuéntame, explícame, ¿sabes, sabes, me gustaría saber, quisiera saber, quiero saber,
    me pregunto, puedes decirme, podrías decirme, puede decirme, averigua, alguna idea, alguien sabe, te acuerdas
german: sag mir, sagen sie mir, weißt du, wissen sie, weiß jemand, ich frage mich, ich möchte wissen, ich will wissen,
    ich würde gerne wissen, ich wüsste gern, ich wüsste gerne, kannst du mir sagen, können sie mir sagen,
    finde heraus, erklär mir, schau nach ob, prüfe ob, erinnerst du dich
french: dis-moi, dites-moi, sais-tu, savez-vous, tu sais si, je me demande, j'aimerais savoir, je voudrais savoir,
    je veux savoir, peux-tu me dire, pouvez-vous me dire, pourrais-tu me dire, pourriez-vous me dire, explique-moi,
    expliquez-moi, est-ce que, qu'est-ce que, qu'est-ce qui, une idée, tu te souviens, tu te rappelles
italian: dimmi, mi dica, mi dici, mi dite, dicci, sai, sapete, vorrei sapere, voglio sapere, mi chiedo, mi domando,
    puoi dirmi, mi sai dire, potresti dirmi, può dirmi, spiegami, qualcuno sa, ti ricordi
portuguese: diga-me, diz-me, me diga, me diz, me fala, me conta, você sabe, sabes, vocês sabem, gostaria de saber,
    queria saber, quero saber, pergunto-me, me pergunto, pode me dizer, podes dizer-me, poderia me dizer,
    me explica, alguém sabe, será que, lembras-te, você lembra
dutch: vertel me, vertel mij, zeg me, weet je, weet u, weten jullie, weet iemand, ik vraag me af, ik wil weten,
    ik zou graag weten, kun je me vertellen, kunt u mij vertellen, kan je me zeggen, zoek uit, leg me uit,
    leg mij uit, enig idee, kun je opzoeken, herinner je je
swedish: berätta för mig, säg mig, berätta vem, berätta vad, vet du, vet ni, vet någon, jag undrar, jag vill veta,
    jag skulle vilja veta, kan du säga, kan du berätta, kan du ta reda på, ta reda på, förklara för mig, någon aning,
    minns du, kan du kolla, kommer du ihåg
danish: fortæl mig, sig mig, ved du, ved i, er der nogen der ved, jeg spekulerer på, jeg vil gerne vide,
    jeg undrer mig, kan du sige mig, kan du fortælle mig, find ud af, forklar mig, kan du huske, husker du
norwegian: fortell meg, si meg, vet du, vet dere, er det noen som vet, jeg lurer på, jeg vil vite,
    jeg vil gjerne vite, kan du si meg, kan du fortelle meg, finn ut, forklar meg, husker du, kan du sjekke
finnish: kerro minulle, kerro meille, kertoisitko, tiedätkö, tiedättekö, tietääkö, haluaisin tietää, haluan tietää,
    mietin, voitko kertoa, voisitko kertoa, ota selvää, selitä minulle, muistatko
russian: скажите, скажи пожалуйста, скажите пожалуйста, расскажи, расскажите, подскажи, подскажите, ты знаешь,
    вы знаете, кто-нибудь знает, интересно, хочу знать, хотел бы знать, хотелось бы знать,
    узнай, выясни, объясни мне, объясните мне, можешь сказать, можете сказать, не подскажете, помнишь
ukrainian: скажіть, розкажи, розкажіть, підкажи, підкажіть, ти знаєш, ви знаєте, хтось знає, цікаво, хочу знати,
    хотів би знати, хотілося б знати, дізнайся, поясни мені, можеш сказати, пам'ятаєш
polish: powiedz mi, proszę powiedzieć, powiedzcie mi, czy wiesz, wiesz może, zastanawiam się, chcę wiedzieć,
    chciałbym wiedzieć, chciałabym wiedzieć, możesz mi powiedzieć, wyjaśnij mi, dowiedz się, sprawdź czy, ciekawe,
    pamiętasz, wiesz
czech: řekni mi, řekněte mi, pověz mi, víš, víte, nevíš, nevíte, zajímá mě, zajímalo by mě, chci vědět,
    chtěl bych vědět, můžeš mi říct, můžete mi říct, vysvětli mi, zjisti, ví někdo, pamatuješ, pamatuješ si
greek: πες μου, πείτε μου, ξέρεις, ξέρετε, ξέρει κανείς, αναρωτιέμαι, θα ήθελα να μάθω, θέλω να μάθω,
    μπορείς να μου πεις, μπορείτε να μου πείτε, εξήγησέ μου, μάθε, θυμάσαι, θα ήθελα να ξέρω
arabic: أخبرني, أخبرنا, قل لي, هل تعرف, هل تعلم, أريد أن أعرف, أود أن أعرف, أتساءل, اشرح لي, هل يمكنك أن تخبرني,
    ذكرني
hebrew: תגיד לי, תגידי לי, ספר לי, אתה יודע, את יודעת, מישהו יודע, אני רוצה לדעת, הייתי רוצה לדעת, מעניין אותי,
    תסביר לי, תבדוק אם, אתה זוכר
hindi: मुझे बताओ, मुझे बताइए, मुझे बताएं, मुझे बता, बताओ, बताइए, बताएं, क्या आप जानते हैं, क्या तुम जानते हो,
    मैं जानना चाहता हूँ, मैं जानना चाहती हूँ, मुझे समझाओ, मुझे समझाइए, पता करो
hungarian: mondd meg, mondd el, mondja meg, tudod, tudja valaki, tudjátok, kíváncsi vagyok, szeretném tudni,
    tudni szeretném, meg tudod mondani, meg tudná mondani, magyarázd el, derítsd ki, nézd meg hogy, emlékszel
romanian: spune-mi, spuneți-mi, zi-mi, știi, știți, știe cineva, mă întreb, aș vrea să știu, vreau să știu,
    poți să-mi spui, îmi poți spune, puteți să-mi spuneți, explică-mi, află, îți amintești, mai știi
turkish: bana söyle, söyler misin, biliyor musun, biliyor musunuz, merak ediyorum, bilmek istiyorum, bana anlat
indonesian: beri tahu saya, beritahu saya, kasih tahu saya, tolong beri tahu, tahukah kamu, apakah kamu tahu,
    saya ingin tahu, aku ingin tahu, bisa kasih tahu, jelaskan kepada saya, cari tahu, kasih tau, kamu tahu
catalan: digues-me, digueu-me, saps, sabeu, em pregunto, m'agradaria saber, vull saber, em pots dir, explica'm
basque: esadazu, esan iezadazu, ba al dakizu, badakizu, jakin nahi dut, azaldu iezadazu
esperanto: diru al mi, ĉu vi scias, mi scivolas, mi volas scii, klarigu al mi
estonian: ütle mulle, kas sa tead, kas te teate, ma tahaksin teada, tahan teada, selgita mulle, räägi mulle
irish: inis dom, an bhfuil a fhios agat, ba mhaith liom a fháil amach, mínigh dom
lithuanian: pasakyk man, pasakykite man, ar žinai, ar žinote, norėčiau žinoti, noriu sužinoti, paaiškink man
serbian: reci mi, recite mi, da li znaš, da li znate, znaš li, zanima me, hteo bih da znam, objasni mi, реци ми,
    реците ми, да ли знаш, знаш ли, занима ме, објасни ми
armenian: ասա ինձ, ասեք ինձ, գիտես, գիտեք, ուզում եմ իմանալ, բացատրիր ինձ
nepali: मलाई भन, मलाई भन्नुहोस्, मलाई बताउनुहोस्, के तपाईंलाई थाहा छ, म जान्न चाहन्छु
persian: به من بگو, به من بگویید, بگو ببینم, آیا می‌دانی, آیا می‌دانید, می‌خواهم بدانم, برایم توضیح بده
sesotho: mpolelle, mpolelleng, na o tseba, ke batla ho tseba, ntlhalosetse
tamil: எனக்கு சொல், எனக்கு சொல்லுங்கள், உங்களுக்கு தெரியுமா, நான் அறிய விரும்புகிறேன்
yiddish: זאג מיר, זאָג מיר, ווייסטו, איך וויל וויסן, איך ווונדער זיך
chinese: 请问, 告诉我, 跟我说, 请告诉, 我想知道, 想知道, 想问, 问一下, 你知道, 您知道, 有谁知道, 谁知道, 帮我查,
    能告诉我, 能不能告诉, 解释一下, 提醒我, 你记得, 还记得
japanese: 教えて, 知りたい
korean: 알려, 궁금, 말해줘
thai: ช่วยบอก, บอกหน่อย, บอกฉัน, บอกผม, บอกเรา, อยากรู้, อยากทราบ, ขอถาม, รู้ไหม
vietnamese: cho tôi biết, cho mình biết, cho em biết, nói cho tôi, tôi muốn biết, mình muốn biết, bạn có biết,
    có ai biết, bạn có nhớ, giải thích cho tôi
"""
_QUESTION_WORDS = """
english: what, which, who, whom, whose, where, when, why, how
spanish: qué, quién, quiénes, cuál, cuáles, cuándo, dónde, adónde, cuánto, cuánta, cuántos, cuántas, por qué,
    hay alguna
german: welcher, welche, welches, welchen, welchem, wer, wem, wen, wessen, wo, wohin, woher, wann, warum, wieso,
    weshalb, wie viel, wie viele, wieviel, wie lange, wie oft, wie heißt, wie hieß, was, gibt es
french: quel, quelle, quels, quelles, qui est, qui a, qui sont, pourquoi, combien, où est, où sont, où se,
    quand est-ce, avons-nous, y a-t-il, as-tu, avez-vous
italian: quale, quali, qual è, chi è, chi ha, chi sono, dove è, dove sono, dov'è, quando è, quanto, quanti,
    quanta, quante, perché, cosa è, cos'è, che cosa, c'è
portuguese: qual, quais, quem é, quem foi, quem fez, quem tem, onde está, onde estão, onde fica, onde, quanto,
    quantos, quantas, por que, o que é, o que foi, existe algum
dutch: welke, welk, wiens, wie is, wie heeft, wie was, waar is, waar zijn, waar staat, waar staan, waar ligt,
    wanneer is, wanneer was, waarom, hoeveel, hoe lang, hoe vaak, hoe heet, wat is, wat zijn, wat was, is er,
    hebben we, heb je
swedish: vilken, vilket, vilka, vem är, vem har, vem, var är, var finns, var ligger, när är, när var, när ska,
    varför, hur många, hur mycket, hur länge, hur ofta, vad är, vad var, vad heter, finns det, har vi, har du
danish: hvilken, hvilket, hvilke, hvem er, hvem har, hvem, hvor er, hvor mange, hvor meget, hvor længe,
    hvor ligger, hvornår, hvorfor, hvad er, hvad var, hvad hedder, findes der, har vi, har du
norwegian: hvilken, hvilket, hvilke, hvem er, hvem har, hvem, hvor er, hvor mange, hvor mye, hvor lenge,
    hvor ligger, når er, når var, hvorfor, hva er, hva var, hva heter, finnes det, har vi, har du
finnish: mikä, minkä, mitä, mitkä, missä, mistä, mihin, minne, kuka, ketkä, kenen, kenelle, milloin, koska on, miksi,
    miten, kuinka monta, kuinka paljon, kuinka kauan, montako, paljonko, onko, ovatko, oliko
russian: какой, какая, какое, какие, какого, какую, кто, кого, кому, где, куда, когда, почему, зачем, сколько,
    чей, чья, что такое, есть ли
ukrainian: який, яка, яке, які, якого, якій, хто, кого, кому, де, куди, звідки, коли, чому, навіщо, скільки, чий, чия,
    чи, котрий, котрій, що таке
polish: jaki, jaka, jakie, jakiego, jakiej, który, która, które, którego, której, kto, kogo, komu, gdzie, kiedy,
    dlaczego, czemu, ile, ilu, czyj, czyja, co to jest, czy, skąd, którym, jakim, kim
czech: jaký, jaká, jaké, jakou, který, která, které, kdo, koho, komu, kde, kam, kdy, proč, kolik, čí, co je, je tam,
    kterém, kterou
greek: ποιος, ποια, ποιο, ποιοι, ποιες, ποιον, πότε, πού, γιατί δεν, πόσο, πόσα, πόσοι, πόσες, τι είναι, τίνος,
    υπάρχει κάποιος
arabic: هل, ما هو, ما هي, من هو, من هي, من الذي, أين, متى, لماذا, كم, كيف يمكن, أي
hebrew: איפה, מתי, איך, למה, מדוע, איזה, איזו, האם, לאן, מאיפה, של מי, לאיזה, באיזה, באיזו, למי
hindi: क्या, कौन, कब, कहाँ, कहां, क्यों, कितने, कितना, कितनी, किसका, किसकी
hungarian: melyik, melyek, milyen, ki, kit, kinek, hol, hova, mikor, miért, hogyan, hány, mennyi, mennyibe, mennyire,
    kié, mi az, van-e
romanian: ce este, ce port, ce versiune, cine este, cine a, unde este, unde sunt, când este, când a, de ce, cât,
    câtă, câți, câte, al cui, există
turkish: hangi, kim, kimin için, ne zaman, nerede, nereye, neden, niçin, niye, kaç, nasıl oldu, ne kadar
indonesian: apakah, apa itu, apa yang, siapa, siapakah, kapan, di mana, dimana, mengapa, kenapa, berapa,
    bagaimana, adakah
catalan: quin, quina, quins, quines, qui és, qui ha, on és, on són, quan és, per què, quant, quants, quantes,
    què és
basque: zein, zein da, zer da, nor da, non dago, noiz, zergatik, zenbat
esperanto: ĉu, kiu, kiuj, kio estas, kie, kiam estas, kial, kiom, kies
estonian: kas, kes on, kes, kus on, kus, millal, miks, mitu, kui palju, kui kaua, milline, mis on
irish: cad é, cad iad, cé hé, cé hí, cén, cá bhfuil, cathain, conas atá, an bhfuil, cé mhéad
lithuanian: ar, kas yra, kuris, kuri, kur yra, kada, kodėl, kiek, kokia, koks
serbian: da li, koji je, koja je, ko je, gde je, gde su, kada je, zašto, koliko, čiji, šta je, да ли, ко је,
    где је, зашто, колико, шта је
armenian: ինչու, որտեղ, երբ է, քանի, ինչ է, ով է, արդյոք
nepali: के, को हो, कहाँ, कहिले, किन, कति, कुन
persian: آیا, چرا, چند, کجا, کدام, چه کسی, چه زمانی, چیست
sesotho: na, ke mang, ke eng, hobaneng, neng, kae
tamil: ஏன், எங்கே, எத்தனை, யார், எப்போது, எந்த, எவ்வளவு
yiddish: צי, פארוואס, פֿאַרוואָס, ווער איז, ווו איז, ווען איז, וויפל
chinese: 为什么, 怎么, 什么时候, 哪个, 哪些, 哪里, 多少, 有多少, 有没有, 能不能, 是不是, 是否, 谁是, 谁负责,
    什么是
japanese: なぜ, どうして, いつ, どこ, どの, 誰が, 何が, いくつ
korean: 왜, 언제, 어디, 어떤, 누가, 몇
thai: ทำไม, ใครเป็น, เมื่อไหร่, เมื่อไร, ที่ไหน
"""
_REQUESTS_WITH_QUESTION = """
spanish: recuérdame, escríbeme, mira, comprueba
german: erinnere mich, schau nach, schau mal nach
french: rappelle-moi, rappelez-moi, regarde, tu sais
italian: ricordami, scrivimi, guarda, controlla
portuguese: lembra-me, me lembra
dutch: herinner me, schrijf me, kijk
swedish: påminn mig, skriv, kolla, berätta
danish: mind mig om, skriv, tjek, fortæl
norwegian: minn meg på, skriv, sjekk, fortell
finnish: kerro, muistuta, katso, tarkista
russian: скажи, напомни, напомни мне, напиши мне
ukrainian: скажи, нагадай, нагадай мені, напиши, напиши мені, перевір
polish: przypomnij, przypomnij mi, napisz, napisz mi, powiedz, sprawdź
czech: připomeň mi, napiš mi, řekni, zjisti, podívej se
greek: θύμισέ μου, θύμισε μου, γράψε μου, δες
arabic: ذكرني, اكتب لي, تحقق
hebrew: תזכיר לי, תזכירי לי, תכתוב לי, תבדוק
hungarian: emlékeztess, írd meg, nézd meg
romanian: amintește-mi, scrie-mi, verifică
"""
_UNENDED = """
spanish: quien, quienes, cual, cuales, cuanto, cuanta, cuantos, cuantas, donde, cómo, como se, que hora, que día,
    que dia, que color, cuando es, cuando fue, cuando vence, cuando empieza, cuando abre, cuando toca, por que
french: qui, où, ou est, ou sont, comment, c'est quoi, lequel, laquelle, quand est, quand finit
italian: chi, dove, cosa, come si, come mai, che ora, che ore, che giorno, che tipo, quando è, quando scade,
    quando comincia, quando apre
portuguese: quem, cadê, como se, como é, o que, que horas, que dia, quando é, quando vence, quando abre
dutch: wie, waar, wanneer, hoe, wat
swedish: vems, hur, vad, vart, när börjar
danish: hvor, hvad, hvordan
norwegian: hvor, hva, hvordan, når begynner
russian: как зовут, как называется, что у, что за
ukrainian: як звати, як називається, що за, що з
polish: jak się, jak ma, co jest, co mamy, co było
czech: jak se, co, odkud
greek: που, τι, πώς, γιατί
arabic: من, كيف, ماذا, لمن, ما اسم, ما رقم, ما سبب, ما معنى, ما لون, ما نوع, ما ثمن, ما سعر, ما عنوان, ما ال*, اين
hebrew: מי, מה, כמה
hindi: या नहीं
hungarian: mi a, mi volt, mi lesz, mit *, hogy hívják, honnan, kivel
romanian: cine, unde, care e, care este, care sunt, cum se, cum îl, cum o, ce oră, ce zi, ce e, cui
"""
_LAST = """
spanish: cuando, como
german: wie
french: quand, quoi
italian: quando, come
portuguese: quando, como, porquê
swedish: var, när
danish: når
norwegian: når
russian: как, что
ukrainian: як, що
polish: jak, co
czech: jak
romanian: când, cum, ce
turkish: mi, mı, mu, mü, miydi, mıydı, misin, musun, miyim, mıyım, miyiz, mıyız, misiniz, musunuz
indonesian: nggak, gak, ga, tidak
vietnamese: không, chưa, hả, à, nhỉ
"""
_ANYWHERE = """
french: combien
turkish: nerede, nerde, nereye, nereden, neresi, kim, kimin, kimi, kime, kimden, kimde, kaç, kaçta, kaça, kaçıncı,
    hangi, hangisi, nasıl, neden, niye, niçin, ne, ne zaman, ne kadar, neydi, nedir
hindi: क्या, कौन, कब, कहाँ, कहां, क्यों, कैसे, कैसा, कैसी, कितने, कितना, कितनी, किस, किसने, किसका, किसकी, किसके, किसे,
    किससे
indonesian: apa, apakah, siapa, kapan, berapa, bagaimana, gimana, kenapa, mengapa, mana, dimana
vietnamese: ai, gì, đâu, nào, mấy, bao nhiêu, bao giờ, bao lâu, sao
"""
_TELLING = """
spanish: sé, sabemos, sabe, explicó, importa
german: weiß, wissen, ahnung, egal
french: sais, sait, savons, explique, importe
italian: so, sappiamo, sa, importa
portuguese: sei, sabemos
dutch: weet, weten
swedish: vet, oavsett
danish: ved, uanset
norwegian: vet, uansett
finnish: tiedä, tiedän
russian: знаю, знаем
ukrainian: знаю, знаємо, знає
polish: wiem, wiemy, wie
czech: vím, víme, ví
greek: ξέρω, ξέρουμε
arabic: أعرف, نعرف, أدري
hebrew: יודע, יודעת, יודעים
hungarian: tudom, tudjuk
romanian: știu, știm, știe
turkish: biliyorum, bilmiyorum, biliyoruz, bilmiyoruz, anlattı, açıkladı
hindi: पता, मालूम, जानता, जानती, समझाया, बताया
indonesian: tahu, tau, menjelaskan, pun, saja, entah
vietnamese: biết, nhớ, hiểu, cũng, đó, thì, dù
"""
_ENDINGS = """
turkish: _mi, _mı, _mu, _mü, _misin, _mısın, _musun, _müsün, _misiniz, _musunuz, _söyle, _anlat
chinese: 吗, 呢, 么, 没有呢
japanese: か, かな, かしら, っけ, 教えて, 教えてください, 教えて下さい, 教えてほしい, 教えてくれ, 教えてね,
    知りたい, 知りたいです, 聞かせて, 聞かせてください, 説明して, 説明してください, 確認してもらえる
korean: 나요, 가요, 까요, 습니까, 입니까, 합니까, 됩니까, 아세요, 아나요, 알려줘, 알려 줘, 알려주세요, 알려 주세요,
    가르쳐 줘, 가르쳐 주세요, 말해 줘, 말해 주세요, 궁금해, 궁금해요, 궁금합니다, 을까, 될까, 할까, 일까, 갈까
thai: ไหม, มั้ย, หรือยัง, หรือเปล่า, หรือไม่, อะไร, ที่ไหน, เมื่อไหร่, เมื่อไร, ทำไม, อย่างไร, ยังไง, เท่าไหร่,
    เท่าไร, กี่, ใคร, บ้าง, ไหน
tamil: _சொல்லுங்கள்
hindi: _बताओ, _बताइए
"""


def _table(text: str) -> dict[str, tuple[str, ...]]:
    """The phrases of each language, in the form in which clauses are compared."""
    rows: dict[str, tuple[str, ...]] = {}
    for line in text.replace("\n    ", " ").strip().splitlines():
        language, _, phrases = line.partition(":")
        rows[language] = tuple(phrase.strip(" ").replace("_", " ").casefold() for phrase in phrases.split(","))
    return rows


REQUESTS, QUESTION_WORDS, ENDINGS = _table(_REQUESTS), _table(_QUESTION_WORDS), _table(_ENDINGS)
REQUESTS_WITH_QUESTION, UNENDED = _table(_REQUESTS_WITH_QUESTION), _table(_UNENDED)
LAST, ANYWHERE, TELLING = _table(_LAST), _table(_ANYWHERE), _table(_TELLING)
_ALL = (REQUESTS, QUESTION_WORDS, ENDINGS, REQUESTS_WITH_QUESTION, UNENDED, LAST, ANYWHERE, TELLING)
ASKING: dict[str, frozenset[str]] = {
    language: frozenset(folded(word) for table in _ALL for phrase in table.get(language, ()) for word in phrase.split())
    for language in REQUESTS
}
"""By language: the words of all of these, each by itself, in the form in which texts are compared."""
LANGUAGES = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "es": "spanish", "fa": "persian", "fi": "finnish", "fr": "french", "hi": "hindi", "hu": "hungarian",
    "id": "indonesian", "it": "italian", "ja": "japanese", "ko": "korean", "lt": "lithuanian", "nb": "norwegian",
    "nl": "dutch", "pl": "polish", "pt": "portuguese", "ro": "romanian", "ru": "russian", "sh": "serbian",
    "sv": "swedish", "ta": "tamil", "th": "thai", "tr": "turkish", "zh": "chinese",
}  # fmt: skip
"""The names of languages, by their codes."""
