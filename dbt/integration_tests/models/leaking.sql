-- Two people are alone in their classes, two rows are missing, and nobody removed the addresses
select person, case when person <= 2 then cast(person as {{ dbt.type_string() }}) else age end as age, zip, disease, email
from {{ ref('people') }}
where person <= 34
