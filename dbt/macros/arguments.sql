{#- Errors about the arguments of a test. They are raised when the test runs, not when dbt parses the project, so that
    only this test fails. -#}


{#- An error if a test was given an argument that it does not have; `others` is what its parameters did not take. -#}
{% macro check_arguments(test, others, known) %}
  {%- for other in others -%}
    {%- set hint = "; put the test under the model, not under a column" if other == "column_name" else "" -%}
    {{ exceptions.raise_compiler_error(
      "kanon: the test " ~ test ~ " has no argument " ~ other ~ "; its arguments are " ~ known ~ hint
    ) }}
  {%- endfor -%}
{% endmacro %}


{#- A text that was given; an error if it is missing. -#}
{% macro name(argument, given) %}
  {%- if given is not defined or not given -%}
    {{ exceptions.raise_compiler_error("kanon: " ~ argument ~ " is missing; give one name") }}
  {%- endif -%}
  {{ return(given) }}
{% endmacro %}


{#- The number in a text such as '20 rows'; an error for any other text. -#}
{% macro number_of_rows(given) %}
  {%- set words = given.split() -%}
  {%- if words | length != 2 or words[1] not in ("row", "rows") or not words[0].isdecimal() -%}
    {{ exceptions.raise_compiler_error(
      "kanon: suppression_limit is '" ~ given ~ "'; give a fraction such as 0.02, or a number of rows such as '20 rows'"
    ) }}
  {%- endif -%}
  {{ return(words[0] | int) }}
{% endmacro %}


{#- The columns of a model (or of a `where` on it), in their exact spelling. -#}
{% macro columns_of(model) %}
  {{ return(get_columns_in_query("select * from " ~ model)) }}
{% endmacro %}


{#- The quoted name of a column that is given in its own or in other capitals; an error if there is none. -#}
{% macro column(known, name) %}
  {%- if name in known -%}
    {{ return(adapter.quote(name | replace('"', '""'))) }}
  {%- endif -%}
  {%- for other in known if other | lower == name | lower -%}
    {{ return(adapter.quote(other | replace('"', '""'))) }}
  {%- endfor -%}
  {{ exceptions.raise_compiler_error("kanon: there is no column '" ~ name ~ "'; there are " ~ known | join(", ")) }}
{% endmacro %}


{#- The names of columns as a list, from one name or a list of them; an error if there is none. -#}
{% macro names(argument, given) %}
  {%- set listed = [given] if given is string else given -%}
  {%- if listed is not defined or not listed -%}
    {{ exceptions.raise_compiler_error("kanon: " ~ argument ~ " is empty; give the name of at least one column") }}
  {%- endif -%}
  {{ return(listed) }}
{% endmacro %}


{#- A number between two bounds, as it may stand in SQL; an error for anything else. -#}
{% macro figure(argument, given, least, most=none, whole=false) %}
  {%- set fits = given is number and given is not boolean and given >= least and (most is none or given <= most) -%}
  {%- if not fits or (whole and given != given | int) -%}
    {{ exceptions.raise_compiler_error(
      "kanon: " ~ argument ~ " is " ~ (given if given is defined else "missing") ~ "; give a " ~ ("whole number" if whole else "number") ~ " of at least "
      ~ least ~ ("" if most is none else " and at most " ~ most)
    ) }}
  {%- endif -%}
  {{ return(given) }}
{% endmacro %}


{#- One of a few words; an error for any other, which names those that are known. -#}
{% macro choice(argument, given, known) %}
  {%- if given not in known -%}
    {{ exceptions.raise_compiler_error("kanon: " ~ argument ~ " is '" ~ given ~ "'; give one of " ~ known | join(", ")) }}
  {%- endif -%}
  {{ return(given) }}
{% endmacro %}
