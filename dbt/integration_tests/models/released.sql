-- 6 classes of 6 rows, each with the 3 diseases in equal shares
select age, zip, disease from {{ ref('people') }}
