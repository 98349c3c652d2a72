"""What a column's name says of the column, in the large European languages."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

IDENTIFIER, QUASI_IDENTIFIER = "identifier", "quasi-identifier"
SENSITIVE, MEASURE, NOTHING = "sensitive", "measure", ""


def name_hint(name: str) -> str:
    """What a column's name says: identifier, quasi-identifier, sensitive, measure, or nothing.

    >>> [name_hint(name) for name in ("SSN", "birthDate", "zip_5", "ICD code", "total charges", "stage")]
    ['identifier', 'quasi-identifier', 'quasi-identifier', 'sensitive', 'measure', '']
    >>> [name_hint(name) for name in ("Vorname", "Date de naissance", "Codice fiscale", "Estado civil", "Płeć")]
    ['identifier', 'quasi-identifier', 'identifier', 'quasi-identifier', 'quasi-identifier']
    """
    said = said_by(name)
    if _is_alone(name):
        return IDENTIFIER
    return next((role for role, hints in _HINTS.items() if said & hints), NOTHING)


def tells_people_apart(name: str) -> bool:
    """Whether a column's name says that equal values are one person: a key of people, or the word for them alone.

    >>> [tells_people_apart(name) for name in ("patient_id", "Customer", "ssn", "surname", "visit_id", "user type")]
    [True, True, True, False, False, False]
    """
    return bool(said_by(name) & _KEYS) or (len(name_words(name)) == 1 and bool(said_by(name) & _PERSONS))


def names_people(name: str) -> bool:
    """Whether a column's name says that it holds names of people, of which there may be few.

    >>> [names_people(name) for name in ("Vorname", "last_name", "Apellidos", "product name", "phone")]
    [True, True, True, False, False]
    """
    return bool(said_by(name) & _NAMES) or name_words(name) in (["name"], ["nom"], ["nome"], ["nombre"], ["naam"])


def _is_alone(name: str) -> bool:
    said = name_words(name)
    return len(said) == 1 and said[0] in _ALONE


def folded(text: str) -> str:
    """A text without accents.

    >>> folded("Łódź, Zürich, Genève, Straße")
    'Lodz, Zurich, Geneve, Strasse'
    """
    plain = unicodedata.normalize("NFKD", text.translate(_FOLDED))
    return "".join(sign for sign in plain if not unicodedata.combining(sign))


def name_words(name: str) -> list[str]:
    """The words of a column's name, in small letters and without accents.

    >>> name_words("birthDate_2")
    ['birth', 'date']
    """
    return [word.lower() for word in _WORD.findall(folded(name))]


def said_by(name: str) -> set[str]:
    """All words of a name, and pairs of neighbours as one word; each without a plural's s too.

    Neighbours are also those with little words between them: "numéro de patient".
    """
    every = name_words(name)
    great = [word for word in every if word not in _LITTLE]
    said = {*every, *(first + second for some in (every, great) for first, second in pairwise(some))}
    return said | {word.removesuffix("s") for word in said}


def words(text: str) -> frozenset[str]:
    """The words of a text, for a table of them."""
    return frozenset(text.split())


_FOLDED = str.maketrans({"ł": "l", "Ł": "L", "ß": "ss", "ø": "o", "Ø": "O", "æ": "ae", "Æ": "AE", "œ": "oe", "đ": "d"})
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_LITTLE = words("o de du des d di da do dos del della dell la le les l el van der den het y e et und and of the i")

# Words of forms and registers in English, German, French, Italian, Spanish, Portuguese, Dutch and Polish, without
# accents: our own list, from dictionaries. Two words that follow each other are written as one.
_PERSONS = words(
    "patient person people customer client user employee member staff student subject citizen "
    "patienten patientin kunde kunden mitarbeiter mitarbeitende mitglied mitglieder versicherte versicherten schuler "
    "studierende bewohner personne employe salarie assure usager eleve etudiant membre "
    "paziente persona cliente utente dipendente assicurato studente paciente empleado trabajador asegurado usuario "
    "afiliado alumno pessoa utilizador empregado segurado aluno patient klant persoon medewerker werknemer verzekerde "
    "lid pacjent pacjenta klient klienta osoba pracownik pracownika ubezpieczony ubezpieczonego"
)
_NUMBERS = words("id no nr number key n num nummer numero numer kennung code codigo codice kod")
_KEYS = words(
    "ssn socialsecurity mrn passport email mail username login "
    "patientennummer patientennr patientenid kundennummer kundennr personalnummer personalnr personennummer "
    "mitarbeiternummer mitarbeiternr mitgliedsnummer mitgliedernummer versichertennummer versichertennr "
    "versicherungsnummer sozialversicherungsnummer krankenkassennummer krankenversichertennummer svnr ahv ahvnr "
    "ahvnummer steuerid steuernummer steueridentifikationsnummer ausweisnummer passnummer reisepass reisepassnummer "
    "matrikelnummer mailadresse avs navs numeroavs nir numerosecu securitesociale numerosecuritesociale passeport "
    "courriel codicefiscale tesserasanitaria passaporto nss dni nif nie pasaporte correoelectronico seguridadsocial "
    "cpf nis passaporte bsn burgerservicenummer paspoort patientnummer klantnummer personeelsnummer pesel paszport"
).union(
    (person + key for person in _PERSONS for key in _NUMBERS),
    (key + person for person in _PERSONS for key in _NUMBERS),
)
_NAMES = words(
    "surname forename firstname lastname middlename fullname givenname familyname maidenname "
    "vorname vornamen nachname familienname geburtsname zuname rufname nomfamille nomnaissance nomusage prenom prenoms "
    "nomprenom nomecognome cognome cognomi nombres apellido apellidos nombreapellidos sobrenome apelido apelidos "
    "nomecompleto nombrecompleto voornaam achternaam familienaam imie imiona nazwisko nazwiska"
).union((person + "name" for person in _PERSONS), (word + person for word in ("nom", "nome") for person in _PERSONS))
_ALONE = words(
    "name address street nom nome nombre naam namen anschrift adresse strasse rue indirizzo via direccion calle "
    "endereco morada rua adres straat ulica"
)
_HINTS = {
    IDENTIFIER: words(
        "phone telephone mobile fax iban streetaddress homeaddress ipaddress creditcard accountnumber licensenumber "
        "licenseplate insurancenumber insuranceid policynumber "
        "telefon telefonnummer telefonnr handy handynummer mobiltelefon mobilnummer natel rufnummer kontonummer konto "
        "kreditkarte kennzeichen fuhrerschein hausnummer wohnadresse postadresse "
        "tel telefono cellulare movil telefone telemovel celular portable telefoon telefoonnummer mobiel komorka "
        "codicebancario rekeningnummer numerconta numerokonta"
    ).union(_KEYS, _NAMES),
    QUASI_IDENTIFIER: words(
        "age birth birthday birthdate birthyear dob born sex gender race ethnicity ethnic zip zipcode postcode "
        "postal plz country nationality citizenship native city town county state region province municipality "
        "district latitude lat longitude lon lng marital education occupation profession job religion language "
        "alter geburtsdatum geburtstag geburtsjahr geburtsort geburtsland geboren geschlecht postleitzahl ort wohnort "
        "stadt gemeinde kanton bundesland land landkreis nationalitat staatsangehorigkeit staatsburgerschaft herkunft "
        "zivilstand familienstand konfession beruf bildung ausbildung schulbildung sprache muttersprache "
        "naissance sexe codepostal npa ville commune canton departement pays nationalite etatcivil "
        "situationfamiliale metier formation langue domicile lieu "
        "eta nascita sesso cap citta comune provincia regione paese nazionalita cittadinanza statocivile professione "
        "religione lingua istruzione domicilio residenza cantone "
        "edad nacimiento sexo genero raza codigopostal cp ciudad municipio localidad poblacion pais nacionalidad "
        "estadocivil profesion ocupacion educacion estudios idioma lengua comunidad lugar residencia residence "
        "idade nascimento raca cep cidade concelho freguesia distrito nacionalidade naturalidade profissao religiao "
        "escolaridade "
        "leeftijd geboortedatum geboortejaar geboorteplaats geboorteland geslacht woonplaats gemeente provincie "
        "nationaliteit burgerlijkestaat beroep godsdienst opleiding taal postcodes "
        "wiek urodzenia plec kodpocztowy miasto miejscowosc gmina powiat wojewodztwo kraj narodowosc obywatelstwo "
        "stancywilny zawod wyznanie wyksztalcenie jezyk"
    ),
    SENSITIVE: words(
        "diagnosis diagnose diagnoses disease illness condition symptom icd medication drug treatment therapy "
        "prescription hiv disability salary income wage earning sexual orientation political conviction "
        "diagnosen hauptdiagnose nebendiagnose nebendiagnosen krankheit erkrankung befund medikament medikamente "
        "behandlung therapie behinderung lohn gehalt einkommen "
        "diagnostic maladie medicament traitement salaire revenu handicap "
        "diagnosi malattia farmaco terapia stipendio salario reddito disabilita "
        "diagnostico enfermedad medicamento tratamiento sueldo discapacidad doenca tratamento rendimento renda "
        "diagnosecode ziekte medicijn behandeling salaris inkomen "
        "diagnoza choroba lek leczenie wynagrodzenie dochod"
    ),
    MEASURE: words(
        "amount charge cost price fee balance payment revenue score weight "
        "betrag kosten preis gebuhr gewicht montant cout prix poids importo costo costi prezzo peso coste precio "
        "custo preco valor bedrag prijs gewicht kwota koszt cena waga"
    ),
}
