"""Grow the lazy option trees of many queries at once, as one graph; numba compiles this file.

The tests of a node depend on its rows, not on a query's path to it, and different orders of the
same tests lead to the same rows. So the trees of all queries are grown together, as one graph: a
node is a subset of the rows with the queries that reach it and each query's number of paths to it.
Nodes are processed from the largest to the smallest. All of a node's parents are larger, so all
queries that reach a node are known when it is processed.
"""

from __future__ import annotations

from stakes.learn.trees._prepare import NO_RANK
from stakes.learn.trees._splits import (
    Int32,
    Int64,
    Uint64,
    entrance,
    fill_both,
    fill_terms,
    find_table,
    inlined,
    line_of_few,
    line_of_many,
    merged,
    middle_of,
    table_test,
    test_line,
    units,
)
from stakes.learn.trees._workspace import (
    CLASS,
    HIGH,
    LANES,
    LEFT_GAIN,
    LOCAL,
    LOW,
    MANY,
    MOST_PATHS,
    MOST_RANKS,
    NOTHING,
    RANKS,
    RIGHT_GAIN,
    WEIGHT,
    Array,
    Batch,
    Data,
    Graph,
    Rules,
    Work,
)

# The rows of a small node in the order of many attributes.


@inlined
def _exchange(keys: Array, begin: int, end: int, gap: int) -> None:
    """Put the lower one first of each two keys that are `gap` apart.

    Unsigned places cannot be negative, so the compiler makes this a loop over vectors.
    """
    far = Uint64(gap)
    for i in range(Uint64(begin), Uint64(end)):
        low, high = keys[i], keys[i + far]
        keys[i], keys[i + far] = min(low, high), max(low, high)


@inlined
def _sort_together(keys: Array, n: int) -> None:
    """Sort the columns of keys, each by itself (Batcher's network; Knuth, volume 3, 5.2.2 M).

    It compares the same places whatever the keys are, so all columns take each step together.
    """
    block = 1
    while block < n:
        gap = block
        while gap:
            row = gap & (block - 1)
            while row + gap < n:
                if row ^ (row + gap) < 2 * block:  # in the same pair of blocks
                    end = row + min(gap, n - row - gap)
                    _exchange(keys, row * LANES, end * LANES, gap * LANES)
                row += 2 * gap
            gap >>= 1
        block <<= 1


@inlined
def _fill_keys(keys: Array, codes: Array, rows: Array, first: int, n: int, column: int) -> None:  # noqa: PLR0917 - compiled calls go by position
    """Write the keys of a node's rows for up to `LANES` attributes, from `column` on."""
    start, lanes = Uint64(column), Uint64(min(LANES, codes.shape[1] - column))
    for i in range(n):
        row, at, number = rows[first + i], Uint64(i * LANES), Int32(i)
        for lane in range(lanes):
            keys[at + lane] = (codes[row, start + lane] << LOCAL) | number


# The best tests of a node.


@inlined
def _count_pure(batch: Batch, n_asked: int, a: int, highest: int, max_tests: int) -> int:
    """Count queries' own tests that leave one class; return how many more queries have enough.

    Without stopping at these, bags of the literal preset took 1.2 times as long. Counting the tests
    of a node too, which cost less, took bags of the default preset longer than it saved.
    """
    gain, pure, enough = batch.gain, batch.pure, 0
    for i in range(n_asked):
        found = gain[i, a] == highest
        pure[i] += found
        enough += found & (pure[i] == max_tests)
    return enough


@inlined
def _is_above(data: Data, batch: Batch, low: int, high: int, q: int, a: int) -> bool:  # noqa: PLR0917 - compiled calls go by position
    """Return whether a query is above an attribute's threshold, given the ranks beside it."""
    rank, start = batch.ranks[q, a], data.value_start[a]
    above = rank >= high
    if low < rank < high:
        cut = middle_of(data.value[start + (low >> 1)], data.value[start + (high >> 1)])
        above = batch.values[q, a] > cut
    return bool(above)


@inlined
def _pack_gains(  # noqa: PLR0917 - compiled calls go by position
    data: Data, work: Work, batch: Batch, i: int, n_done: int, at_node: bool
) -> None:  # fmt: skip
    """Write the gain of each attribute for a query, with the attribute's rank.

    Between the two values beside a threshold, the gain of the better side is used as a bound of the
    gain of the query's side, so that the loop has no branches.
    """
    ranks, q, sides, packed = batch.ranks, batch.asked[i], work.sides, work.packed
    if at_node:
        for a in range(n_done):
            mine = Int64(ranks[q, a])
            left = sides[LEFT_GAIN, a] * (mine < sides[HIGH, a])
            right = sides[RIGHT_GAIN, a] * ((mine > sides[LOW, a]) & (mine < NO_RANK))
            packed[a] = max(left, right) << RANKS | (MOST_RANKS - a)
    if data.any_discrete or not at_node:
        for a in range(n_done):
            if data.discrete[a] or not at_node:
                packed[a] = batch.gain[i, a] << RANKS | (MOST_RANKS - a)


@inlined
def _highest(packed: Array, n_done: int, last: int) -> int:
    """Return the highest gain that is lower than the last, with its attribute's rank."""
    best = Int64(0)
    for a in range(n_done):
        best = max(best, packed[a] * (packed[a] < last))
    return best


@inlined
def _write_best(  # noqa: PLR0917 - compiled calls go by position
    data: Data, rules: Rules, work: Work, batch: Batch, rows: Array, first: int, i: int,
    n_done: int, highest: int,
) -> int:  # fmt: skip
    """Write the best tests of a query in decreasing order of gain; return their number."""
    packed, sides, discrete, q = work.packed, work.sides, data.discrete, batch.asked[i]
    count, least_gain = 0, 0.0
    best = _highest(packed, n_done, Int64(1) << 62)
    while count < rules.max_tests and best >> RANKS > 0 and (best >> RANKS) + 1 >= least_gain:
        gain, a = best >> RANKS, MOST_RANKS - (best & MOST_RANKS)
        own = discrete[a] or not rules.at_node
        above = not own and _is_above(data, batch, sides[LOW, a], sides[HIGH, a], q, a)
        true_gain = gain if own else sides[RIGHT_GAIN if above else LEFT_GAIN, a]
        if true_gain < gain:  # it is compared again, after tests that gain more
            packed[a] = true_gain << RANKS | (MOST_RANKS - a)
        else:
            choice = batch.choice[i, a] if own else sides[LOW, a] + above
            only = Int64(NOTHING)
            if gain == highest:
                low, high = _passing(choice, discrete[a], data.missing)
                at = first
                while not low <= data.columns[a, rows[at]] <= high:
                    at += 1
                only = data.entries[rows[at]] & CLASS
            least_gain = rules.gain_ratio * gain if count == 0 else least_gain
            batch.gains[i, count], batch.onlys[i, count] = gain, only
            batch.keys[i, count] = a * data.stride + choice
            count += 1
        best = _highest(packed, n_done, best)
    return count


@inlined
def _passing(choice: int, discrete: bool, missing: int) -> tuple[int, int]:
    """Return the lowest and the highest code that passes a test."""
    limit, above = choice >> 1, choice & 1
    low = limit if discrete else (limit + 1) * above
    high = missing - 1 if above else limit
    return low, high


@inlined
def _note_rows(  # noqa: PLR0917 - compiled calls go by position
    tally: Array, local: Array, step: Array, entries: Array, rows: Array, first: int, n: int
) -> None:
    """Write the entry of each row of a small node, and its step in the table of splits."""
    for i in range(n):
        entry = entries[rows[first + i]]
        local[i] = entry
        step[i] = tally[entry & CLASS].stride * (entry >> WEIGHT)


@inlined
def _best_tests(  # noqa: PLR0917 - compiled calls go by position
    data: Data, rules: Rules, work: Work, batch: Batch, rows: Array, first: int,
    n: int, size: int, n_asked: int,
) -> None:  # fmt: skip
    """Write the best tests of each query at a node, and the class if a test leaves one only.

    The key of a test is its attribute times `stride` plus its choice, which is twice a code, plus
    one for the side above it. With ranking by information, a test has the same gain on all sides.
    Tests whose gain is too small relative to the best are left out. Once all queries have
    `max_tests` tests of their own that leave one class only, no further attribute can give a better
    one.
    """
    begin, end, at_node = Int64(NOTHING), Int64(NOTHING), rules.at_node
    small = n <= MANY and data.missing < 1 << 32 - LOCAL
    whole = fill_terms(work.tally, work.terms, work.log, rules.balanced)
    highest = units(whole)
    if small:
        if at_node:
            begin, end = find_table(rules, work)
        _note_rows(work.tally, work.local, work.step, data.entries, rows, first, n)
    if begin == NOTHING:
        fill_both(work.tally, work.terms, work.both)
    for i in range(n_asked):
        batch.pure[i] = 0
    a, n_enough = Int64(0), 0  # not a constant, for which the loop would be compiled once more
    while a < len(data.discrete) and n_enough < n_asked:
        own = data.discrete[a] or not at_node
        if small and a % LANES == 0:
            _fill_keys(work.keys, data.codes, rows, first, n, a)
            _sort_together(work.keys, n)
        last = Int64(work.keys[(n - 1) * LANES + a % LANES] if small else 0) >> LOCAL
        if begin != NOTHING and not own and last != data.missing:
            table_test(work, begin, end, n, a)
        else:
            if small:
                line_of_few(work, n, a)
            else:
                line_of_many(data, work, rows, first, n, a)
            test_line(data, rules, work, batch, a, n, size, n_asked, whole)
        n_enough += _count_pure(batch, n_asked if own else 0, a, highest, rules.max_tests)
        a += 1
    for i in range(n_asked):
        _pack_gains(data, work, batch, i, a, at_node)
        batch.n_best[i] = _write_best(data, rules, work, batch, rows, first, i, a, highest)


@entrance
def tests_of_one(  # noqa: PLR0917 - compiled calls go by position
    data: Data, rules: Rules, work: Work, batch: Batch, rows: Array, size: int
) -> None:
    """Write the best tests of the first query at a node with some rows."""
    batch.asked[0] = 0
    _count_classes(data.entries, work.tally, rows, 0, len(rows))
    _best_tests(data, rules, work, batch, rows, 0, len(rows), size, 1)


# The graph.


@inlined
def _collect_queries(graph: Graph, batch: Batch, node: int) -> int:
    """Write the queries that reach a node and their numbers of paths; return how many they are."""
    nodes, segments, reached = graph.nodes, graph.segments, graph.reached
    asked, paths, met = batch.asked, batch.paths, batch.met
    begin, n_asked, segment = nodes[node].begin, nodes[node].number, nodes[node].more
    several = segment != NOTHING
    for i in range(n_asked):
        asked[i], paths[i] = reached[begin + i].query, reached[begin + i].paths
        if several:
            met[asked[i]] = i
    while segment != NOTHING:
        begin = segments[segment].begin
        for i in range(begin, begin + segments[segment].number):
            q = reached[i].query
            if met[q] == NOTHING:
                met[q] = n_asked
                asked[n_asked], paths[n_asked] = q, reached[i].paths
                n_asked += 1
            else:
                paths[met[q]] += reached[i].paths
        segment = segments[segment].next
    if several:
        for i in range(n_asked):
            met[asked[i]] = NOTHING
    return n_asked  # type: ignore[no-any-return] # elements of arrays are Any


@inlined
def _scale_paths(graph: Graph, batch: Batch, n_asked: int) -> None:
    """Divide the numbers of a query's paths if a node has very many: only their ratios matter.

    With three tests at each node they triple at each level, and overflow after 650 levels.
    """
    paths, asked, met, reached = batch.paths, batch.asked, batch.met, graph.reached
    most = 0.0
    for i in range(n_asked):
        most = max(most, paths[i])
    if most > MOST_PATHS:
        graph.state[0].scaled += 1
        for i in range(n_asked):
            if paths[i] > MOST_PATHS:
                q = asked[i]
                met[q] = i
                paths[i] /= MOST_PATHS
                batch.totals[q] /= MOST_PATHS
                for c in range(batch.sums.shape[1]):
                    batch.sums[q, c] /= MOST_PATHS
        for k in range(graph.state[0].reached):
            if met[reached[k].query] != NOTHING:
                reached[k].paths /= MOST_PATHS
        for i in range(n_asked):
            met[asked[i]] = NOTHING


@inlined
def _count_classes(entries: Array, tally: Array, rows: Array, first: int, n: int) -> None:
    """Count the rows of each class at a node."""
    for c in range(len(tally)):
        tally[c].count = 0
    for i in range(first, first + n):
        entry = entries[rows[i]]
        tally[entry & CLASS].count += entry >> WEIGHT


@inlined
def _choose(  # noqa: PLR0917 - compiled calls go by position
    rules: Rules, tally: Array, batch: Batch, graph: Graph, size: int, n_asked: int
) -> int:  # fmt: skip
    """Give each chosen test a slot; with `laplace` 0, those that leave one class are leaves."""
    slot_of, slots, keys, onlys = graph.slot_of, graph.slots, batch.keys, batch.onlys
    paths, sums, totals = batch.paths, batch.sums, batch.totals
    n_slots, classes, laplace = 0, len(tally), rules.laplace
    for i in range(n_asked):
        q, kept = batch.asked[i], batch.n_best[i]
        if kept == 0:
            for c in range(classes):
                share = (tally[c].count + laplace) / (size + classes * laplace)
                sums[q, c] += paths[i] * share
            totals[q] += paths[i]
        elif rules.per_node:
            paths[i] /= kept
        for option in range(kept):
            if onlys[i, option] != NOTHING and laplace == 0:
                sums[q, onlys[i, option]] += paths[i]
                totals[q] += paths[i]
                keys[i, option] = NOTHING
            else:
                key = keys[i, option]
                slot = slot_of[key]
                if slot == NOTHING:
                    slot = slot_of[key] = n_slots
                    slots[slot].key, slots[slot].number = key, 0
                    n_slots += 1
                slots[slot].number += 1
    return n_slots


@inlined
def _deal_out(batch: Batch, graph: Graph, n_asked: int, n_slots: int) -> None:
    """Write the queries of each slot, slot by slot, and reset the slots of the tests."""
    slot_of, slots, reached, keys = graph.slot_of, graph.slots, graph.reached, batch.keys
    begin = graph.state[0].reached
    for slot in range(n_slots):
        slots[slot].end = begin
        begin += slots[slot].number
    for i in range(n_asked):
        for option in range(batch.n_best[i]):
            if keys[i, option] != NOTHING:
                slot = slot_of[keys[i, option]]
                end = slots[slot].end
                reached[end].query, reached[end].paths = batch.asked[i], batch.paths[i]
                slots[slot].end = end + 1
    for slot in range(n_slots):
        slot_of[slots[slot].key] = NOTHING


@inlined
def _take_rows(  # noqa: PLR0917 - compiled calls go by position
    data: Data, tally: Array, graph: Graph, a: int, low: int, high: int
) -> tuple[int, int, int, int]:  # fmt: skip
    """Write the rows of a node that pass a test, and count them in `left` by class.

    Returns the number of distinct rows, of all rows and of classes, and a hash of the rows.
    """
    columns, entries, row_hash, rows = data.columns, data.entries, data.row_hash, graph.rows
    node, into = graph.state[0].node, graph.state[0].rows
    first, n = graph.nodes[node].first, graph.nodes[node].length
    kept, size, present, mixed = 0, 0, 0, 0
    for i in range(first, first + n):  # without branches, which no processor could predict
        code = columns[a, rows[i]]
        rows[into + kept] = rows[i]
        kept += (code >= low) & (code <= high)
    for c in range(len(tally)):
        tally[c].left = 0
    for i in range(into, into + kept):
        entry = entries[rows[i]]
        tally[entry & CLASS].left += entry >> WEIGHT
        size += entry >> WEIGHT
        mixed += row_hash[rows[i]]
    for c in range(len(tally)):
        present += tally[c].left > 0
    return kept, size, present, mixed


@inlined
def _add_leaves(  # noqa: PLR0917 - compiled calls go by position
    work: Work, batch: Batch, reached: Array, begin: int, end: int, size: int, laplace: float
) -> None:
    """Add the class shares of the rows on the left to the sums of the queries in a slot."""
    tally, shares, sums, totals = work.tally, work.shares, batch.sums, batch.totals
    classes = len(tally)
    for c in range(classes):
        shares[c] = (tally[c].left + laplace) / (size + classes * laplace)
    for i in range(begin, end):
        q, paths = reached[i].query, reached[i].paths
        for c in range(classes):
            sums[q, c] += paths * shares[c]
        totals[q] += paths


@inlined
def _look_up(table: Array, nodes: Array, mixed: int, length: int) -> int:
    """Return the place of a subset in the hash table, or the place where it would go."""
    mask = len(table) - 1
    at = mixed & mask
    while table[at] != NOTHING and (
        nodes[table[at]].hash != mixed or nodes[table[at]].length != length
    ):
        at = (at + 1) & mask
    return at


@inlined
def _drop(waiting: Array, nodes: Array, state: Array) -> None:
    """Drop the nodes of the smallest size, so that they are not split."""
    size = state[0].smallest
    while waiting[size].head != NOTHING:
        nodes[waiting[size].head].first = NOTHING
        waiting[size].head = nodes[waiting[size].head].next
    state[0].split -= waiting[size].count
    state[0].smallest += 1


@inlined
def _join(graph: Graph, node: int, begin: int, number: int) -> None:
    """Write a segment of queries that reach a known node from another parent."""
    nodes, segments, state = graph.nodes, graph.segments, graph.state
    segment = state[0].segments
    if nodes[node].more == NOTHING:
        nodes[node].more = segment
    else:
        segments[nodes[node].last].next = segment
    nodes[node].last = segment
    segments[segment].begin, segments[segment].number = begin, number
    segments[segment].next = NOTHING
    state[0].segments = segment + 1


@inlined
def _add_node(graph: Graph, size: int, length: int, mixed: int, begin: int, number: int) -> None:  # noqa: PLR0917 - compiled calls go by position
    """Write a new node and the queries that reach it, and put it behind the others of its size."""
    nodes, waiting, state = graph.nodes, graph.waiting, graph.state
    node = state[0].nodes
    nodes[node].first, nodes[node].length = state[0].rows, length
    nodes[node].hash, nodes[node].begin, nodes[node].number = mixed, begin, number
    nodes[node].next = nodes[node].more = NOTHING
    if waiting[size].head == NOTHING:
        waiting[size].head = node
    else:
        nodes[waiting[size].tail].next = node
    waiting[size].tail = node
    waiting[size].count += 1
    state[0].nodes = node + 1
    state[0].rows += length
    state[0].split += 1


@inlined
def _is_full(graph: Graph) -> bool:
    """Return whether another child of the current node might have no room."""
    used = graph.state[0]
    return bool(
        (used.rows + graph.nodes[used.node].length > len(graph.rows))
        | (used.nodes + 1 > len(graph.nodes))
        | (used.segments + 1 > len(graph.segments))
        | (2 * used.nodes > len(graph.table))
    )


@merged
def _follow(  # noqa: PLR0917 - compiled calls go by position
    data: Data, rules: Rules, work: Work, batch: Batch, graph: Graph, max_nodes: int
) -> None:  # fmt: skip
    """Process the next slot: add its leaf shares, its queries to a known node, or a new node."""
    state, nodes, slots, tally = graph.state, graph.nodes, graph.slots, work.tally
    slot = state[0].slot
    key, end, number = slots[slot].key, slots[slot].end, slots[slot].number
    a = key // data.stride
    low, high = _passing(key - a * data.stride, data.discrete[a], data.missing)
    length, size, present, mixed = _take_rows(data, tally, graph, a, low, high)
    state[0].slot = slot + 1
    if present == 1 or size < state[0].smallest:
        _add_leaves(work, batch, graph.reached, end - number, end, size, rules.laplace)
    else:
        start, reached = state[0].reached, graph.reached
        for i in range(number):  # next to those that are kept already
            reached[start + i].query = reached[end - number + i].query
            reached[start + i].paths = reached[end - number + i].paths
        state[0].reached = start + number
        found = _look_up(graph.table, nodes, mixed, length)
        if graph.table[found] != NOTHING:
            _join(graph, graph.table[found], start, number)
        else:
            graph.table[found] = state[0].nodes
            _add_node(graph, size, length, mixed, start, number)
            while 0 < max_nodes < state[0].split:
                _drop(graph.waiting, nodes, state)


@entrance
def grow(  # noqa: PLR0917 - compiled calls go by position
    data: Data, rules: Rules, work: Work, batch: Batch, graph: Graph, max_nodes: int
) -> bool:
    """Add each query's leaf shares, times the paths that lead there, to `sums` and `totals`.

    With a budget of nodes, which is 0 for none, the queries must be the rows themselves, and the
    queries at a node are its rows; if there are more nodes, those of the least sizes are not split.

    Returns whether all trees are complete. If not, enlarge the graph and call this again.
    """
    state, nodes, waiting = graph.state, graph.nodes, graph.waiting
    most_chosen, full = len(batch.asked) * rules.max_tests, False
    while state[0].size and not full:
        size, node = state[0].size, state[0].node
        if state[0].slot < state[0].slots:
            full = _is_full(graph)
            if not full:
                _follow(data, rules, work, batch, graph, max_nodes)
        elif waiting[size].head == NOTHING:
            state[0].size = size - 1
        elif state[0].reached + most_chosen > len(graph.reached):
            full = True
        else:
            if node != NOTHING:
                nodes[node].first = NOTHING  # it is done
            node = state[0].node = waiting[size].head
            waiting[size].head = nodes[node].next
            first, n = nodes[node].first, nodes[node].length
            if max_nodes:
                n_asked, state[0].reached = n, 0
                for i in range(n):
                    batch.asked[i], batch.paths[i] = graph.rows[first + i], 1.0
            else:
                n_asked = _collect_queries(graph, batch, node)
                _scale_paths(graph, batch, n_asked)
            _count_classes(data.entries, work.tally, graph.rows, first, n)
            _best_tests(data, rules, work, batch, graph.rows, first, n, size, n_asked)
            n_slots = _choose(rules, work.tally, batch, graph, size, n_asked)
            _deal_out(batch, graph, n_asked, n_slots)
            state[0].slot, state[0].slots = 0, n_slots
    return not full


@entrance
def pack_rows(rows: Array, into: Array, nodes: Array, state: Array) -> None:
    """Copy the rows of nodes that are not done to the start of an array, which may be the same."""
    at = 0
    for node in range(state[0].nodes):  # in the order in which they lie, so they may move in place
        if nodes[node].first != NOTHING:
            for i in range(nodes[node].length):
                into[at + i] = rows[nodes[node].first + i]
            nodes[node].first = at
            at += nodes[node].length
    state[0].rows = at


@entrance
def fill_hash_table(table: Array, nodes: Array, n_nodes: int) -> None:
    """Write all nodes except the root, which has no parents, into an empty hash table."""
    for node in range(1, n_nodes):
        table[_look_up(table, nodes, nodes[node].hash, nodes[node].length)] = node
