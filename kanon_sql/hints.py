"""Hints from column names in the large European languages."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

IDENTIFIER, QUASI_IDENTIFIER = "identifier", "quasi-identifier"
SENSITIVE, MEASURE, NOTHING = "sensitive", "measure", ""
KEPT, DROPPED = "kept", "dropped"


def name_hint(name: str) -> str:
    """The role that a column's name suggests: identifier, quasi-identifier, sensitive, measure, or nothing.

    >>> [name_hint(name) for name in ("SSN", "birthDate", "zip_5", "ICD code", "total charges", "stage")]
    ['identifier', 'quasi-identifier', 'quasi-identifier', 'sensitive', 'measure', '']
    >>> [name_hint(name) for name in ("Fallnummer", "Date de naissance", "Codice fiscale", "Estado civil", "Płeć")]
    ['identifier', 'quasi-identifier', 'identifier', 'quasi-identifier', 'quasi-identifier']
    """
    if len(name_words(name)) == 1 and name_words(name)[0] in _ALONE:
        return IDENTIFIER
    phrases = name_phrases(name)
    return next((role for role, hints in _HINTS.items() if phrases & hints), NOTHING)


def identifies_people(name: str) -> bool:
    """Whether a column's name suggests that equal values are one person: a key of people, or just a word for people.

    >>> [identifies_people(name) for name in ("patient_id", "Customer", "ssn", "surname", "visit_id", "user type")]
    [True, True, True, False, False, False]
    """
    return bool(name_phrases(name) & _KEYS) or (len(name_words(name)) == 1 and bool(name_phrases(name) & _PERSONS))


def names_people(name: str) -> bool:
    """Whether a column's name suggests that it contains names of people, which need not be unique.

    >>> [names_people(name) for name in ("Vorname", "last_name", "Apellidos", "product name", "phone")]
    [True, True, True, False, False]
    """
    return bool(name_phrases(name) & _NAMES) or name_words(name) in (["name"], ["nom"], ["nome"], ["nombre"], ["naam"])


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


def name_phrases(name: str) -> set[str]:
    """The words of a name and neighbouring pairs of them as one word, all also without a final s.

    Words with only articles or prepositions between them are neighbours, too: "numéro de patient".
    """
    every = name_words(name)
    without_little = [word for word in every if word not in _LITTLE]
    pairs = {first + second for first, second in (*pairwise(every), *pairwise(without_little))}
    phrases = {*every, *pairs}
    return phrases | {word.removesuffix("s") for word in phrases}


def words(text: str) -> frozenset[str]:
    """The words of a text, for tables of words."""
    return frozenset(text.split())


_FOLDED = str.maketrans({"ł": "l", "Ł": "L", "ß": "ss", "ø": "o", "Ø": "O", "æ": "ae", "Æ": "AE", "œ": "oe", "đ": "d"})
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_LITTLE = words("o de du des d di da do dos del della dell la le les l el van der den het y e et und and of the i")

# Words of forms and registers in English, German, French, Italian, Spanish, Portuguese, Dutch and Polish, without
# accents: our own list, from dictionaries. Pairs of words are written as one.
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
    "versicherungsnummer sozialversicherungsnummer krankenkassennummer krankenversichertennummer kvnr "
    "kvnummer svnr ahv ahvnr "
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
_CASES = words(
    "caseid casenumber caseno encounterid visitid admissionid episodeid recordnumber "
    "fallnummer fallnr fallid aufnahmenummer aufnahmenr aktenzeichen aktennummer vorgangsnummer "
    "numerodossier numerosejour numerocartella numeropratica numeroexpediente numerohistoria numeroprocesso "
    "dossiernummer zaaknummer numersprawy"
)
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
    ).union(_KEYS, _NAMES, _CASES),
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
