{#- The words of a column's name that say that it tells who somebody is; the same as `kanon profile` goes by. -#}
{% macro identifier_words() %}
  {%- set persons = "patient person people customer client user employee member staff student subject citizen" -%}
  {%- set words = (
    "ssn socialsecurity email mail phone telephone mobile fax passport iban mrn surname forename "
    "firstname lastname middlename fullname givenname familyname maidenname username login "
    "streetaddress homeaddress ipaddress creditcard accountnumber licensenumber licenseplate"
  ).split() -%}
  {%- for person in persons.split() -%}
    {%- for key in ["id", "name", "no", "nr", "number", "key"] -%}
      {%- do words.append(person ~ key) -%}
    {%- endfor -%}
  {%- endfor -%}
  {{ return(words) }}
{% endmacro %}


{#- Whether a column is an identifier by its name: a word of it, or two neighbours as one, with or without a plural's s. -#}
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
  {%- if words in (["name"], ["address"], ["street"]) -%}
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
