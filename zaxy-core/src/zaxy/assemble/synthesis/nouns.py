"""Common kinds of records and deeds, in English and as people ask for them in German, Spanish and French: programs name
their types and fields in English, whatever their users speak. Only a word that memory does not have is looked up."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from zaxy.retrieve.question import Asked, AskedWord
from zaxy.text.tokens import words

_TABLE = """
appointment: Termin Termine cita citas rendez-vous
bill: Rechnung Rechnungen factura facturas facture factures
book: Buch Bücher libro libros livre livres
bug: Fehler fallo fallos errores bogue bogues
call: Anruf Anrufe Telefonat Telefonate llamada llamadas appel appels
car: Auto Autos coche coches voiture voitures
client: Kunde Kunden Kundin cliente clientes
coffee: Kaffee café
customer: Kunde Kunden Kundin cliente clientes client clients
delivery: Lieferung Lieferungen entrega entregas livraison livraisons
deployment: Auslieferung Auslieferungen despliegue despliegues déploiement déploiements
doctor: Arzt Ärzte Ärztin médico médicos médica médecin médecins
electricity: Strom electricidad électricité
employee: Mitarbeiter Mitarbeiterin empleado empleados empleada employé employés
error: Fehler errores erreur erreurs
expense: Ausgabe Ausgaben gasto gastos dépense dépenses
flight: Flug Flüge vuelo vuelos vol vols
food: Essen comida alimentation nourriture
fuel: Benzin Sprit gasolina combustible essence carburant
game: Spiel Spiele partido partidos match matchs
goal: Tor Tore gol goles but buts
groceries: Lebensmittel Einkäufe supermercado comestibles courses
guest: Gast Gäste huésped huéspedes invitado invitados invité invités
incident: Vorfall Vorfälle Störung Störungen incidente incidentes incidencia incidencias
insurance: Versicherung Versicherungen seguro seguros assurance assurances
invoice: Rechnung Rechnungen factura facturas facture factures
item: Artikel artículo artículos article articles
lesson: Stunde Unterrichtsstunde clase clases lección lecciones leçon leçons cours
match: Spiel Spiele partido partidos
meal: Mahlzeit Mahlzeiten comida comidas repas
medication: Medikament Medikamente medicamento medicamentos médicament médicaments
meeting: Besprechung Besprechungen reunión reuniones réunion réunions
member: Mitglied Mitglieder miembro miembros socio socios membre membres
night: Nacht Nächte noche noches nuit nuits
order: Bestellung Bestellungen Auftrag Aufträge pedido pedidos commande commandes
outage: Ausfall Ausfälle caída caídas panne pannes
page: Seite Seiten página páginas
parcel: Paket Pakete paquete paquetes colis
patient: Patienten Patientin paciente pacientes
payment: Zahlung Zahlungen pago pagos paiement paiements
plant: Pflanze Pflanzen planta plantas plante plantes
product: Produkt Produkte producto productos produit produits
project: Projekt Projekte proyecto proyectos projet projets
purchase: Kauf Käufe Einkauf Einkäufe compra compras achat achats
rent: Miete alquiler loyer
repair: Reparatur Reparaturen reparación reparaciones réparation réparations
restaurant: Restaurants restaurante restaurantes
return: Retoure Retouren Rücksendung devolución devoluciones retour retours
review: Bewertung Bewertungen revisión revisiones reseña reseñas revue revues avis
ride: Fahrt Fahrten viaje viajes trajet trajets
room: Zimmer Raum Räume habitación habitaciones sala salas chambre chambres salle salles
run: Lauf Läufe carrera carreras ejecución ejecuciones course courses
sale: Verkauf Verkäufe venta ventas vente ventes
service: Dienst Dienste servicio servicios
session: Sitzung Sitzungen sesión sesiones séance séances
shipment: Sendung Sendungen envío envíos envoi envois expédition expéditions
sleep: Schlaf sueño sommeil
student: Schüler Schülerin Studenten alumno alumnos alumna estudiante estudiantes élève élèves étudiant
supplier: Lieferant Lieferanten proveedor proveedores fournisseur fournisseurs
task: Aufgabe Aufgaben tarea tareas tâche tâches
temperature: Temperatur Temperaturen temperatura temperaturas température températures
test: Prüfung Prüfungen prueba pruebas essai essais
ticket: Fahrkarte Eintrittskarte entrada entradas billete billetes billet billets
trip: Reise Reisen Fahrt Fahrten viaje viajes voyage voyages
user: Benutzer Nutzer Nutzerin usuario usuarios utilisateur utilisateurs
visit: Besuch Besuche visita visitas visite visites
walk: Spaziergang Spaziergänge paseo paseos promenade promenades
weight: Gewicht peso poids
workout: Training Trainings Trainingseinheit entrenamiento entrenamientos entraînement entraînements
book: gebucht buchen reservé reservamos reservado réservé réserver
buy: gekauft kaufen compré compramos comprado acheté acheter
clean: geputzt putzen limpié limpiar limpiado nettoyé nettoyer
cycle: geradelt radeln pedaleé pédalé
deliver: zugestellt geliefert entregado entregamos livré livrée livrés livrées
fix: behoben beheben arreglado arreglamos corregido corregimos corrigé réparé
order: bestellt bestellen pedí pedimos commandé commander
play: gespielt spielen jugué jugamos jugado joué jouer
read: gelesen lesen leí leer leído lu lire
run: gelaufen laufen corrí correr corrimos corrido couru courir
sell: verkauft verkaufen vendí vendimos vendido vendu vendre
send: verschickt gesendet geschickt envié enviamos enviado envoyé envoyer
ship: verschickt versendet versandt envié enviamos enviado expédié
sleep: geschlafen schlafen dormí dormir dormido dormi
swim: geschwommen schwimmen nadé nadar nadado nagé nager
visit: besucht besuchen visité visitamos visitado visiter
write: geschrieben schreiben escribí escribimos escrito écrit
"""


def in_words_of_memory(asked: Asked, ask: Callable[[str], Asked]) -> tuple[Asked, tuple[str, ...]]:
    """A question with the words of memory for what it names otherwise, and which these are. `ask`: what another
    question asks for. Where memory has none of the words, or several, the question's own stays."""
    found, taken = [], []
    for word in asked.words:
        names = () if word.is_known else _english().get(tuple(words(word.text)), ())
        known = [one for name in names for one in ask(name).words if one.is_known]
        if len(known) == 1:
            taken.append(f"{word.text} for {known[0].text}")
            word = AskedWord(word.text, known[0].stems, word.weight, False, True)
        found.append(word)
    return asked._replace(words=tuple(found)), tuple(taken)


@cache
def _english() -> dict[tuple[str, ...], tuple[str, ...]]:
    found: dict[tuple[str, ...], tuple[str, ...]] = {}
    for line in _TABLE.strip().splitlines():
        name, _, others = line.partition(": ")
        for other in others.split():
            stems = tuple(words(other))
            found[stems] = tuple(dict.fromkeys((*found.get(stems, ()), name)))
    return found
