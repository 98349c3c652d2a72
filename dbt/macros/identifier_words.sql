{#- The words in a column's name that mark it as an identifier; the same words as in `kanon profile`. -#}
{% macro identifier_words() %}
  {%- set persons = (
    "afiliado alumno aluno asegurado assicurato assure bewohner citizen client cliente customer dipendente "
    "eleve empleado employe employee empregado etudiant klant klient klienta kunde kunden lid medewerker member "
    "membre mitarbeitende mitarbeiter mitglied mitglieder osoba paciente pacjent pacjenta patient patienten "
    "patientin paziente people person persona personne persoon pessoa pracownik pracownika salarie schuler "
    "segurado staff student studente studierende subject trabajador ubezpieczonego ubezpieczony usager user "
    "usuario utente utilizador versicherte versicherten verzekerde werknemer"
  ).split() -%}
  {%- set numbers = "code codice codigo id kennung key kod n no nr num number numer numero nummer".split() -%}
  {%- set words = (
    "accountnumber achternaam admissionid ahv ahvnr ahvnummer aktennummer aktenzeichen apelido apelidos apellido "
    "apellidos aufnahmenr aufnahmenummer ausweisnummer avs bsn burgerservicenummer caseid caseno casenumber "
    "cellulare celular codicebancario codicefiscale cognome cognomi correoelectronico courriel cpf creditcard dni "
    "dossiernummer email encounterid episodeid fallid fallnr fallnummer familienaam familienname familyname fax "
    "firstname forename fuhrerschein fullname geburtsname givenname handy handynummer hausnummer homeaddress iban "
    "imie imiona insuranceid insurancenumber ipaddress kennzeichen komorka konto kontonummer krankenkassennummer "
    "krankenversichertennummer kreditkarte kvnr kvnummer lastname licensenumber licenseplate login maidenname "
    "mail mailadresse matrikelnummer middlename mitgliedsnummer mobiel mobile mobilnummer mobiltelefon movil mrn "
    "nachname natel navs nazwiska nazwisko nie nif nir nis nombreapellidos nombrecompleto nombres nomecognome "
    "nomecompleto nomfamille nomnaissance nomprenom nomusage nss numerconta numeroavs numerocartella "
    "numerodossier numeroexpediente numerohistoria numerokonta numeropratica numeroprocesso numerosecu "
    "numerosecuritesociale numerosejour numersprawy pasaporte paspoort passaporte passaporto passeport passnummer "
    "passport paszport personalnr personalnummer personeelsnummer personennummer pesel phone policynumber "
    "portable postadresse prenom prenoms recordnumber reisepass reisepassnummer rekeningnummer rufname rufnummer "
    "securitesociale seguridadsocial sobrenome socialsecurity sozialversicherungsnummer ssn steuerid "
    "steueridentifikationsnummer steuernummer streetaddress surname svnr tel telefon telefone telefonnr "
    "telefonnummer telefono telefoon telefoonnummer telemovel telephone tesserasanitaria versicherungsnummer "
    "visitid voornaam vorgangsnummer vorname vornamen wohnadresse zaaknummer zuname"
  ).split() -%}
  {%- for person in persons -%}
    {%- for number in numbers -%}
      {%- do words.extend([person ~ number, number ~ person]) -%}
    {%- endfor -%}
    {%- do words.extend([person ~ "name", "nom" ~ person, "nome" ~ person]) -%}
  {%- endfor -%}
  {{ return(words) }}
{% endmacro %}


{#- Whether a column is an identifier by its name: by a word, or two adjacent words joined, with or without a plural s. -#}
{% macro is_named_identifier(name) %}
  {%- set spaced = namespace(text="", before="") -%}
  {%- for letter in name -%}
    {%- set small = letter | lower == letter -%}
    {%- set is_letter = letter | lower != letter | upper -%}
    {%- set begins = is_letter and not small and spaced.before == "small" -%}
    {%- set spaced.text = spaced.text ~ (" " if begins else "") ~ (letter | lower if is_letter else " ") -%}
    {%- set spaced.before = ("small" if small else "capital") if is_letter else "" -%}
  {%- endfor -%}
  {%- set words = spaced.text.split() -%}
  {%- set alone = (
    "address adres adresse anschrift calle direccion endereco indirizzo morada naam name namen nom nombre nome rua rue "
    "straat strasse street ulica via"
  ).split() -%}
  {%- if words | length == 1 and words[0] in alone -%}
    {{ return(true) }}
  {%- endif -%}
  {%- set known = kanon.identifier_words() -%}
  {%- for word in words -%}
    {%- set pair = word ~ words[loop.index] if not loop.last else word -%}
    {%- for said in (word, pair) -%}
      {%- if said in known or (said.endswith("s") and said[:-1] in known) -%}
        {{ return(true) }}
      {%- endif -%}
    {%- endfor -%}
  {%- endfor -%}
  {{ return(false) }}
{% endmacro %}
