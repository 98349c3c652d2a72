"""Every query and statement of the package, as text in an engine's dialect: only this package imports sqlglot."""

from kanon_sql.queries.class_labels import DisplayForm, boxes, joined_classes, local_classes, members
from kanon_sql.queries.cloak import Moment, cloak_boxes, cloak_points, cloak_rows
from kanon_sql.queries.codes import keyed_rows, replaced, rows_of_combinations, rows_of_people
from kanon_sql.queries.coding import (
    Coded,
    CodedColumn,
    coded_cells,
    coded_tuples,
    frequency_set,
    numbered_codes,
    packed,
    raw_column,
    tuples,
    with_population,
)
from kanon_sql.queries.common_tables import CommonTables
from kanon_sql.queries.counted_release import (
    CountedRelease,
    classed_rows,
    drop_type,
    label_counts,
    label_type,
    text_counts,
    typed_columns,
)
from kanon_sql.queries.dialects import (
    DIALECTS,
    NAME_CASES,
    check_dialect,
    check_names,
    converts_time_zones,
    creates_tables,
    has_iso_weeks,
    how_tested,
    in_case,
    with_names,
)
from kanon_sql.queries.fits import fits_of_labels
from kanon_sql.queries.inlined_tables import PrintedStatement, WrittenTable, written_table
from kanon_sql.queries.linked import (
    KeyReference,
    KnownKey,
    NewKey,
    ReleasedColumn,
    ReleasedTable,
    ShiftedColumn,
    as_texts,
    known_rows,
    labels_at,
    linked_copy,
    linked_release,
    linked_rows,
    place_columns,
    released_facts,
    released_people,
)
from kanon_sql.queries.linked_history import (
    OWN_COLUMNS,
    PARENT,
    PERSON,
    ROW,
    compared_facts,
    compared_labels,
    compared_values,
    described_rows,
    republished,
    side_by_side,
    with_text_columns,
)
from kanon_sql.queries.linked_views import LiveCell, class_numbers, copies_of_rows, live_release, live_rows
from kanon_sql.queries.local import (
    assigned,
    beside_patterns,
    cells_of_classes,
    cells_of_node,
    covered,
    labelled,
    nearest,
    placed,
    readings,
    regions,
)
from kanon_sql.queries.local_release import LocalReleaseQuery
from kanon_sql.queries.perturb import Perturbed, grouped_rows, identified_rows, perturbed_rows, sorted_rows
from kanon_sql.queries.places import NumberedPlaces, ReleasedPlaces
from kanon_sql.queries.reference import reference
from kanon_sql.queries.references import Seed, escaped, type_in, unescaped, with_references
from kanon_sql.queries.refine import (
    SPAN_UNIT,
    GeneralizationSteps,
    LabelWord,
    refine_classes,
    refine_gains,
    refine_generalizations,
    refine_rests,
    refine_tuples,
)
from kanon_sql.queries.release import (
    FullDomainQuery,
    contents,
    of_type,
    population_column,
    shown_population,
)
from kanon_sql.queries.release_query import ReleaseColumn, StatementColumn
from kanon_sql.queries.rounds import RoundStatement, numbered_column, rounds, step
from kanon_sql.queries.rule_labels import EXACT, EXACT_SINGLE
from kanon_sql.queries.ruled_levels import labelled as ruled_labels
from kanon_sql.queries.ruled_levels import mapping as ruled_mapping
from kanon_sql.queries.ruled_levels import order as mapped_order
from kanon_sql.queries.script_sizes import check_size, size_in_words
from kanon_sql.queries.scripts import creating
from kanon_sql.queries.scripts import replaced as replaced_by_script
from kanon_sql.queries.split_joins import MOST_JOINS
from kanon_sql.queries.standalone import StandaloneQuery, exported_tuples
from kanon_sql.queries.statements import (
    SEPARATORS,
    add_and_delete_a_row,
    attach,
    castable,
    comment,
    comment_column,
    copy_to,
    create_as,
    create_commented,
    create_empty,
    create_schema,
    create_table,
    declare_key,
    delete_all,
    delete_others,
    drop,
    fingerprint,
    grant,
    insert,
    insert_castable,
    insert_lists,
    load_files,
    no_rows,
    no_values,
    refresh,
    rename,
    revoke,
    select_all,
    set_owner,
    tables_read,
    use,
    valid_texts,
    with_texts,
    without_formulas,
)
from kanon_sql.queries.text_conversion import (
    LEADING_ZERO,
    PLAIN_NUMBER,
    Conversion,
    converted,
    number_pattern,
)
from kanon_sql.queries.tree import (
    Bits,
    Columns,
    Crossed,
    Hole,
    Masked,
    PerNode,
    Same,
    Steps,
    check_condition,
    identifier,
    is_scratch,
    named,
    over,
    over_classes,
    parts,
    per_node,
    plain_names,
    pretty,
    repeated_text,
    scratch,
    sentence,
    text,
    typed,
    union_all,
    unmasked,
)
from kanon_sql.relation import Relation
