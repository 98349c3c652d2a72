select age, zip, disease from {{ ref('people') }} where person < 0
