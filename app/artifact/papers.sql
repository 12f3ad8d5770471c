-- The papers' claims, judged from the runs. Each query below a line `---- ID` yields one row for
-- each part of the claim: {outcome, effect, n}; NULL where runs are missing that would decide.

---- outcomes
-- A measured size over the printed one, and a direction by the share of cells.

CREATE MACRO verdict(outcome, effect, n) AS
    {'outcome': outcome, 'effect': effect::DOUBLE, 'n': n::INTEGER[]};
CREATE MACRO size_outcome(ratio) AS
    CASE WHEN ratio BETWEEN 0.8 AND 1.25 THEN 'holds'
         WHEN ratio BETWEEN 2 / 3 AND 1.5 THEN 'nearly' ELSE 'does not hold' END;
CREATE MACRO share_outcome(holding, cells, least := 1.0) AS
    CASE WHEN holding >= least * cells THEN 'holds'
         WHEN holding > 0 THEN 'holds in part' ELSE 'does not hold' END;
CREATE MACRO plain(holds, effect, n) AS
    verdict(CASE WHEN holds THEN 'holds' ELSE 'does not hold' END, effect, n);

---- network
-- From `network_runs`: configurations, and the one with least of each mark.

CREATE TABLE network AS
SELECT workload || coalesce(' ' || place::BIGINT, '') AS panel, workload, place, system,
       itr, ghz, rapl, energy_j, interrupts, ipc,
       CASE WHEN workload LIKE 'memcached%' THEN latency_p99_us ELSE duration_s END AS performance,
       performance * energy_j AS product,
       instructions / CASE WHEN workload = 'nodejs' THEN requests ELSE 1.0 END AS instructions
FROM network_runs;
CREATE TABLE cells AS
SELECT panel, workload, place, system, itr, ghz, rapl, count(*) AS n,
       avg(performance) AS performance, avg(energy_j) AS energy_j, avg(product) AS product,
       avg(instructions) AS instructions, avg(interrupts) AS interrupts, avg(ipc) AS ipc,
       stddev_samp(performance) / avg(performance) AS performance_sd,
       stddev_samp(energy_j) / avg(energy_j) AS energy_sd,
       stddev_samp(product) / avg(product) AS product_sd
FROM network GROUP BY ALL;
CREATE TABLE totals AS SELECT panel, system, sum(n) AS n FROM cells GROUP BY ALL;
CREATE MACRO of(row, mark) AS
    CASE mark WHEN 'performance' THEN row.performance WHEN 'energy_j' THEN row.energy_j
              ELSE row.product END;
CREATE MACRO pooled(sd, n) AS sqrt(sum((n - 1) * sd ** 2) / sum(n - 1));
CREATE TABLE noise AS
SELECT panel, system, pooled(performance_sd, n) AS performance, pooled(energy_sd, n) AS energy_j,
       pooled(product_sd, n) AS product
FROM cells WHERE n > 1 GROUP BY ALL;
-- The paper prints no limit of the tail: 500 us is ours. The default is no choice.
CREATE TABLE marks AS
SELECT mark, c.panel, c.system, c.n, itr, ghz, c.performance, c.energy_j, c.product,
       noise.performance AS performance_noise, noise.energy_j AS energy_noise,
       noise.product AS product_noise
FROM cells c CROSS JOIN (VALUES ('performance'), ('energy_j'), ('product')) m(mark)
     LEFT JOIN noise USING (panel, system)
WHERE workload NOT LIKE 'memcached%' OR system = 'linux_default' OR c.performance <= 500
QUALIFY row_number() OVER (PARTITION BY mark, panel, system ORDER BY of(c, mark),
    itr NULLS FIRST, ghz DESC NULLS FIRST, rapl DESC NULLS FIRST) = 1;
CREATE MACRO noise_of(mark, k) AS
    CASE k WHEN 'performance' THEN mark.performance_noise WHEN 'energy_j' THEN mark.energy_noise
           ELSE mark.product_noise END;
-- Old over new against a printed factor, by the ratio of the logarithms; one-sided from `least` on.
-- Where a side's system has no replicates in the panel, noise is unknown and nothing is decided.
CREATE MACRO factor(old, new, k, printed, least := 1e9) AS
    CASE WHEN (abs(ln(of(old, k) / of(new, k))) >= 2 * sqrt(
        noise_of(old, k) ** 2 / old.n + noise_of(new, k) ** 2 / new.n)) IS NOT TRUE
    THEN verdict('cannot be decided', of(old, k) / of(new, k), [old.n, new.n])
    ELSE verdict(CASE WHEN ln(of(old, k) / of(new, k)) / ln(printed) >= least THEN 'holds'
        ELSE size_outcome(ln(of(old, k) / of(new, k)) / ln(printed)) END,
        of(old, k) / of(new, k), [old.n, new.n]) END;
-- One metric at the marks of two systems in a panel.
CREATE MACRO against(p, old_system, old_mark, new_system, new_mark, k, printed) AS
    (SELECT factor(o, w, k, printed) FROM marks o JOIN marks w USING (panel)
     WHERE panel = p AND o.system = old_system AND o.mark = old_mark
         AND w.system = new_system AND w.mark = new_mark);
CREATE MACRO gain(p, old_system, new_system, k, printed) AS
    against(p, old_system, k, new_system, k, k, printed);

CREATE MACRO netpipe() AS ['netpipe 64', 'netpipe 8192', 'netpipe 65536', 'netpipe 524288'];
CREATE MACRO closed() AS list_concat(['nodejs'], netpipe());
CREATE MACRO memcached() AS ['memcached 200000', 'memcached 400000', 'memcached 600000'];
CREATE MACRO silo() AS
    ['memcached-silo 50000', 'memcached-silo 100000', 'memcached-silo 200000'];
CREATE MACRO tuned() AS ['linux_tuned', 'ebbrt_tuned'];
CREATE MACRO has(panels, systems) AS
    (SELECT count(*) FROM totals
     WHERE list_contains(panels, panel) AND list_contains(systems, system))
    = len(panels) * len(systems);
-- Whether they have marks: runs within the limit.
CREATE MACRO marked(panels, systems) AS
    (SELECT count(*) FROM marks WHERE mark = 'energy_j'
         AND list_contains(panels, panel) AND list_contains(systems, system))
    = len(panels) * len(systems);
-- The marks of two systems in some panels, in the order of these.
CREATE MACRO pairs(panels, old_system, new_system, k) AS TABLE
    SELECT list_position(panels, panel) AS place, o AS old, w AS new, of(o, k) / of(w, k) AS gain
    FROM marks o JOIN marks w USING (panel, mark)
    WHERE list_contains(panels, panel) AND mark = k AND o.system = old_system
        AND w.system = new_system;
-- The greatest gain over panels; steady: of those whose default has one level.
CREATE MACRO greatest_gain(panels, old_system, new_system, k, printed, most_noise := 1e9) AS
    CASE WHEN marked(panels, [old_system, new_system]) THEN
        (SELECT factor(old, new, k, printed) FROM pairs(panels, old_system, new_system, k)
         WHERE coalesce(noise_of(old, k), 0) <= most_noise ORDER BY gain DESC LIMIT 1) END;
CREATE MACRO twice_in_workloads(new_system, k) AS
    CASE WHEN marked(list_concat(closed(), memcached()), ['linux_default', new_system]) THEN
        (SELECT verdict(
            CASE count(DISTINCT split_part(new.panel, ' ', 1)) FILTER (gain >= 2 ** 0.8)
                WHEN 0 THEN 'does not hold' WHEN 1 THEN 'holds in part' ELSE 'holds' END,
            max(gain), [arg_max(old.n, gain), arg_max(new.n, gain)])
         FROM pairs(list_concat(closed(), memcached()), 'linux_default', new_system, k)) END;
CREATE MACRO least_with_polling(panels, k) AS
    CASE WHEN marked(panels, ['ebbrt_poll', 'linux_default', 'linux_tuned', 'ebbrt_tuned']) THEN
        (SELECT verdict(share_outcome(count(*) FILTER (is_least), count(*)), NULL,
                        list(n ORDER BY place))
         FROM (SELECT place, any_value(n) FILTER (system = 'ebbrt_poll') AS n,
                   any_value(value) FILTER (system = 'ebbrt_poll')
                       < min(value) FILTER (system <> 'ebbrt_poll') AS is_least
               FROM (SELECT *, of(m, k) AS value, list_position(panels, panel) AS place
                     FROM marks m WHERE list_contains(panels, panel) AND mark = k)
               GROUP BY place)) END;
CREATE MACRO product_with_itr(p, old, new, printed, delay) AS
    (SELECT CASE WHEN g.outcome IN ('holds', 'nearly') AND itr <> delay
            THEN verdict('holds in part', g.effect, g.n) ELSE g END
     FROM (SELECT gain(p, old, new, 'product', printed) AS g), marks
     WHERE panel = p AND system = new AND mark = 'product');
CREATE MACRO polling_worse(old_system, new_system, k, printed, least := 1e9) AS
    CASE WHEN marked(netpipe()[3:], [old_system, new_system]) THEN
        (SELECT factor(old, new, k, printed, least)
         FROM pairs(netpipe()[3:], old_system, new_system, k) ORDER BY gain DESC LIMIT 1) END;
CREATE MACRO polling_range(k, low, high) AS
    CASE WHEN marked(memcached()[2:], ['ebbrt_tuned', 'ebbrt_poll']) THEN
        (SELECT verdict(
            share_outcome(count(*) FILTER (of(new, k) / of(old, k) - 1
                BETWEEN low - 0.05 AND high + 0.05), 2),
            arg_min(of(new, k) / of(old, k), place),
            flatten(list([new.n, old.n] ORDER BY place)))
         FROM pairs(memcached()[2:], 'ebbrt_tuned', 'ebbrt_poll', 'energy_j')) END;

-- Mechanisms: rank correlations, slopes, and settings that both tuned systems ran.

-- The difference of the ranks from both ends is, but for a factor, the mean rank of ties. Means
-- that agree to seven digits are ties.
CREATE MACRO counted(row, k) AS
    CASE k WHEN 'performance' THEN row.performance WHEN 'instructions' THEN row.instructions
           ELSE row.interrupts END::FLOAT;
CREATE MACRO by_delay(k, least_rapl) AS TABLE
    SELECT panel, system, median(rho) FILTER (isfinite(rho)) AS value
    FROM (SELECT panel, system, ghz, CASE WHEN count(*) > 2 THEN corr(x, y) END AS rho
          FROM (SELECT panel, system, ghz,
                    rank() OVER (a ORDER BY itr) - rank() OVER (a ORDER BY itr DESC) AS x,
                    rank() OVER (a ORDER BY counted(c, k))
                        - rank() OVER (a ORDER BY counted(c, k) DESC) AS y
                FROM cells c WHERE rapl = least_rapl OR least_rapl = 0
                WINDOW a AS (PARTITION BY panel, system, ghz))
          GROUP BY ALL)
    GROUP BY ALL;
CREATE MACRO shared(right_ones, panels, systems, effect, n) AS
    CASE WHEN has(panels, systems) AND len(n) = len(panels) * len(systems)
    THEN verdict(share_outcome(right_ones, len(panels) * len(systems)), effect, n) END;
CREATE MACRO delay_by_size(s) AS
    CASE WHEN marked(netpipe(), [s]) THEN
        (SELECT plain(delays = list_sort(delays) AND abs(delays[-1] - 28) <= 2, delays[-1], n)
         FROM (SELECT list(itr ORDER BY place) AS delays, list(n ORDER BY place) AS n
               FROM (SELECT itr, n, list_position(netpipe(), panel) AS place FROM marks
                     WHERE system = s AND mark = 'product' AND place > 0))) END;
CREATE MACRO fewest_instructions(p) AS
    CASE WHEN has([p], tuned()) THEN
        (SELECT plain(l / e > 1 AND e_least < l_least, l / e, [l_n, e_n])
         FROM (SELECT median(instructions) FILTER (system = 'linux_tuned') AS l,
                      median(instructions) FILTER (system = 'ebbrt_tuned') AS e,
                      min(instructions) FILTER (system = 'linux_tuned') AS l_least,
                      min(instructions) FILTER (system = 'ebbrt_tuned') AS e_least,
                      count(instructions) FILTER (system = 'linux_tuned') AS l_n,
                      count(instructions) FILTER (system = 'ebbrt_tuned') AS e_n
               FROM network WHERE panel = p)) END;
CREATE MACRO interrupts_cut(p) AS
    CASE WHEN has([p], ['ebbrt_tuned']) THEN
        (SELECT verdict(share_outcome(count(*) FILTER (cut >= 0.85 AND slow < fast), count(*)),
                        median(cut), [any_value(n)])
         FROM (SELECT itr, 1 - min(interrupts) / max(interrupts) AS cut,
                      arg_min(ghz, interrupts) AS slow, arg_max(ghz, interrupts) AS fast
               FROM (SELECT itr, ghz, avg(interrupts) AS interrupts FROM cells
                     WHERE panel = p AND system = 'ebbrt_tuned' GROUP BY ALL)
               GROUP BY itr),
              (SELECT n FROM totals WHERE panel = p AND system = 'ebbrt_tuned')) END;
CREATE MACRO like_settings(panels) AS TABLE
    SELECT nth AS place, avg(l.instructions / e.instructions) AS ratio,
           avg(l.ipc) AS l_ipc, avg(e.ipc) AS e_ipc, sum(l.n) AS l_n, sum(e.n) AS e_n
    FROM (SELECT *, list_position(panels, panel) AS nth FROM cells) l
         JOIN cells e USING (panel, itr, ghz, rapl)
    WHERE l.system = 'linux_tuned' AND e.system = 'ebbrt_tuned' AND nth > 0 GROUP BY nth;
CREATE MACRO ipc(panels, way) AS
    CASE WHEN has(panels, tuned()) THEN
        (SELECT verdict(share_outcome(count(*) FILTER (way * (e_ipc - l_ipc) > 0), count(*)),
                        arg_min(e_ipc / l_ipc, place), [sum(e_n), sum(l_n)])
         FROM like_settings(panels)) END;
-- Slopes of ln(performance) on ln(GHz), of groups whose clocks span more than a factor.
CREATE TABLE slopes AS
SELECT panel, system, itr, rapl, regr_slope(ln(performance), ln(ghz)) AS slope,
       max(ghz) / min(ghz) AS span
FROM cells WHERE ghz IS NOT NULL GROUP BY ALL;
CREATE MACRO steepest(s, panels) AS
    (SELECT max(slope) FROM (SELECT abs(median(slope)) AS slope FROM slopes
     WHERE system = s AND span > 1.15 AND list_contains(panels, panel) GROUP BY panel));
CREATE MACRO steeper_than_memcached(s) AS
    CASE WHEN has(list_concat(silo(), memcached()), [s]) THEN
        plain(steepest(s, silo()) > steepest(s, memcached()), steepest(s, silo()),
              (SELECT list(n ORDER BY list_position(list_concat(silo(), memcached()), panel))
               FROM totals WHERE system = s
                   AND list_contains(list_concat(silo(), memcached()), panel))) END;
-- Energy at the fastest and the slowest ITR that were run at the slowest or the fastest clock.
CREATE MACRO ends(panels, is_slowest) AS TABLE
    SELECT panel, system, avg(energy_j) FILTER (itr = fast) - avg(energy_j) FILTER (itr = slow)
               AS saved, sum(n) FILTER (itr = fast) AS fast_n, sum(n) FILTER (itr = slow) AS slow_n,
           sum(n) AS n
    FROM (SELECT *, min(itr) OVER a AS fast, max(itr) OVER a AS slow
          FROM (SELECT *, min(ghz) OVER p AS lowest, max(ghz) OVER p AS highest FROM cells
                WHERE list_contains(panels, panel) AND list_contains(tuned(), system)
                WINDOW p AS (PARTITION BY panel, system))
          WHERE ghz = CASE WHEN is_slowest THEN lowest ELSE highest END
          WINDOW a AS (PARTITION BY panel, system))
    GROUP BY ALL;
CREATE MACRO slowest_itr_saves(is_slowest, printed) AS
    CASE WHEN has(memcached(), tuned()) THEN
        (SELECT verdict(size_outcome(mean / printed), mean, n)
         FROM (SELECT avg(saved) AS mean, [sum(fast_n), sum(slow_n)] AS n
               FROM ends(memcached(), is_slowest))) END;
CREATE MACRO slow_itr_saves_more(p) AS
    CASE WHEN has([p], tuned()) THEN
        (SELECT verdict(size_outcome(e.saved / l.saved / 1.5), e.saved / l.saved, [e.n, l.n])
         FROM ends([p], FALSE) e, ends([p], FALSE) l
         WHERE e.system = 'ebbrt_tuned' AND l.system = 'linux_tuned') END;

---- storage
-- From the configurations in `storage`, of which `slices` has those that a rule compares: `place`
-- (one device, access and size), `reads`, `writes`, `tiles` (all sizes), and completed by
-- interrupts `i_all`, `i_rw`, `i_reads`, `i_writes`, `i_four`, `i_four_reads` (of 4 KiB).
-- `idle` has the power of idle devices, `moves` loads and stores by run and source.

CREATE TABLE measured AS
SELECT * EXCLUDE m, m.name, m.mean, m.sd, m.n
FROM (SELECT slice, mode, kind, device, rw, request_bytes, io_depth, unnest([
    {'name': 'iops', 'mean': iops, 'sd': iops_sd, 'n': iops_n},
    {'name': 'cpu_pct', 'mean': cpu_pct, 'sd': cpu_pct_sd, 'n': cpu_pct_n},
    {'name': 'cpu_sys_pct', 'mean': cpu_sys_pct, 'sd': cpu_sys_pct_sd, 'n': cpu_sys_pct_n},
    {'name': 'power_w', 'mean': power_w, 'sd': power_w_sd, 'n': power_w_n},
    {'name': 'latency_us', 'mean': latency_mean_us, 'sd': latency_mean_us_sd,
     'n': latency_mean_us_n},
    {'name': 'switches', 'mean': context_switches_per_io, 'sd': context_switches_per_io_sd,
     'n': context_switches_per_io_n},
    {'name': 'rate', 'mean': interrupts_per_s, 'sd': interrupts_per_s_sd,
     'n': interrupts_per_s_n},
    {'name': 'bytes', 'mean': bytes_per_joule, 'sd': bytes_per_joule_sd, 'n': bytes_per_joule_n},
    {'name': 'ios', 'mean': ios_per_joule, 'sd': ios_per_joule_sd, 'n': ios_per_joule_n}]) AS m
    FROM slices)
WHERE m.mean IS NOT NULL;
CREATE TABLE moved AS
WITH by_source AS (
    SELECT mode, io_depth, run_id, subsystem, sum(loads_stores_per_s) AS value FROM moves
    WHERE loads_stores_per_s IS NOT NULL GROUP BY ALL),
both_kinds AS (
    FROM by_source UNION ALL
    SELECT mode, io_depth, run_id, 'all', sum(value) FROM by_source GROUP BY ALL)
SELECT subsystem, mode, io_depth, avg(value) AS mean, stddev_samp(value) AS sd, count(*) AS n
FROM both_kinds GROUP BY ALL;
CREATE VIEW counts AS SELECT DISTINCT n FROM (SELECT n FROM measured UNION SELECT n FROM moved)
WHERE n > 1;

---- tests
-- Student's test, pooled: `student` has its limits of 5 % by degrees of freedom.

CREATE MACRO error_of(n_a, sd_a, n_b, sd_b) AS sqrt(
    ((n_a - 1) * sd_a ** 2 + (n_b - 1) * sd_b ** 2) / (n_a + n_b - 2) * (1 / n_a + 1 / n_b));
-- The different numbers of a list, in its order.
CREATE MACRO different(numbers) AS
    list_filter(numbers, lambda x, i: list_position(numbers, x) = i);
-- Two modes at each IO depth with two runs of both.
CREATE MACRO compared(k, first, second) AS TABLE
    SELECT io_depth, a.mean, b.mean AS other, a.mean - b.mean AS lead, [a.n, b.n] AS ns,
           error_of(a.n, a.sd, b.n, b.sd) AS error, two_sided, one_sided,
           lead > 0 AND lead >= two_sided * error AS is_more,
           lead < 0 AND -lead >= two_sided * error AS is_less
    FROM (FROM measured WHERE slice = 'place' AND name = k AND mode = first AND n > 1) a
    JOIN (FROM measured WHERE slice = 'place' AND name = k AND mode = second AND n > 1) b
        USING (io_depth)
    JOIN student ON freedom = a.n + b.n - 2;
-- The first greater at the share `least` of the depths, and less at none.
CREATE MACRO ordered(k, first, second, least := 1.0, deepest := 1e9) AS
    (SELECT CASE WHEN varied > 0 THEN verdict(
        share_outcome(more, cells, CASE WHEN less THEN 2.0 ELSE least END), NULL, n) END
     FROM (SELECT count(*) AS cells, count(*) FILTER (is_more) AS more, bool_or(is_less) AS less,
                  count(*) FILTER (error > 0 OR lead <> 0) AS varied,
                  different(flatten(list(ns ORDER BY io_depth))) AS n
           FROM compared(k, first, second) WHERE io_depth <= deepest));
CREATE MACRO faster_by(m, printed) AS
    (SELECT verdict(size_outcome(lead / printed), NULL, different(ns))
     FROM compared('iops', m, 'interrupt'), place
     WHERE io_depth = 1 AND rw = 'randread' AND request_bytes = 4096);
CREATE MACRO power_inverted(first, second) AS
    (SELECT CASE WHEN cells > 0 THEN plain(inverted > 0, NULL,
        different(flatten(CASE WHEN inverted > 0 THEN inverted_n ELSE n END))) END
     FROM (SELECT count(*) AS cells, count(*) FILTER (c.is_less AND p.is_more) AS inverted,
                  list(list_concat(c.ns, p.ns) ORDER BY io_depth) AS n,
                  list(list_concat(c.ns, p.ns) ORDER BY io_depth)
                      FILTER (c.is_less AND p.is_more) AS inverted_n
           FROM compared('cpu_pct', first, second) c
           JOIN compared('power_w', first, second) p USING (io_depth)));
CREATE MACRO switches(m, low, high) AS
    (SELECT CASE WHEN cells > 0 THEN verdict(share_outcome(within, cells), NULL, []) END
     FROM (SELECT count(*) AS cells, count(*) FILTER (mean BETWEEN low AND high) AS within
           FROM measured WHERE slice = 'place' AND name = 'switches' AND mode = m AND n > 1));
-- Each mode with more loads and stores than the next, at 32 threads.
CREATE MACRO moves_ordered(source, first, second, third) AS
    (SELECT CASE WHEN cells = wanted THEN verdict(share_outcome(more, cells), NULL, n) END
     FROM (SELECT count(*) AS cells, count(*) FILTER (
                      a.mean > b.mean AND a.mean - b.mean
                      >= two_sided * error_of(a.n, a.sd, b.n, b.sd)) AS more,
                  different(flatten(list([a.n, b.n] ORDER BY place))) AS n,
                  2 AS wanted
           FROM (VALUES (1, first, second), (2, second, third)) o(place, high, low)
           JOIN moved a ON a.mode = high JOIN moved b ON b.mode = low
           JOIN student ON freedom = a.n + b.n - 2
           WHERE a.subsystem = source AND b.subsystem = source AND a.io_depth = 32
               AND b.io_depth = 32 AND a.n > 1 AND b.n > 1));
-- Bytes a joule of all modes by tile, those with two runs of each; and the best mode there.
CREATE VIEW tiles AS
SELECT request_bytes, io_depth, mode, mean, sd, n FROM measured
WHERE slice = 'tiles' AND name = 'bytes' AND mode IN ('interrupt', 'poll', 'hybrid') AND n > 1
QUALIFY count(*) OVER (PARTITION BY request_bytes, io_depth) = 3;
CREATE VIEW won AS
SELECT request_bytes, io_depth, [a.n, b.n] AS ns,
       CASE WHEN a.mean > b.mean AND a.mean - b.mean
           >= two_sided * error_of(a.n, a.sd, b.n, b.sd) THEN a.mode END AS best
FROM (SELECT *, row_number() OVER (PARTITION BY request_bytes, io_depth
                                   ORDER BY mean DESC, mode) AS place FROM tiles) a
JOIN (SELECT *, row_number() OVER (PARTITION BY request_bytes, io_depth
                                   ORDER BY mean DESC, mode) AS place FROM tiles) b
    USING (request_bytes, io_depth)
JOIN student ON freedom = a.n + b.n - 2
WHERE a.place = 1 AND b.place = 2;
-- Configurations of a kind of device that interrupts complete, two runs each.
CREATE MACRO by_kind(s, k) AS TABLE
    FROM measured WHERE slice = s AND name = k AND n > 1;
CREATE MACRO peak(k) AS (SELECT max(mean) FROM by_kind('i_all', 'power_w') WHERE kind = k);
CREATE MACRO less(low, high) AS
    CASE WHEN low IS NOT NULL AND high IS NOT NULL THEN plain(low < high, NULL, []) END;
CREATE MACRO span(k) AS
    (SELECT max(span) / (SELECT peak_w FROM peak_power)
     FROM (SELECT max(mean) - min(mean) AS span FROM by_kind('i_four', 'power_w')
           WHERE kind = k GROUP BY device));
CREATE MACRO idle_less(kinds, more) AS
    (SELECT CASE WHEN cells > 0 THEN verdict(share_outcome(apart, cells), NULL, []) END
     FROM (SELECT count(*) AS cells, count(*) FILTER (
               b.power_w - a.power_w
               > 2 * sqrt(a.power_w_sd ** 2 / a.power_w_n + b.power_w_sd ** 2 / b.power_w_n))
               AS apart
           FROM idle a, idle b WHERE list_contains(kinds, a.kind) AND b.kind = more
               AND a.power_w_n > 1 AND b.power_w_n > 1));
CREATE MACRO changes(k) AS TABLE
    SELECT w.mean / r.mean - 1 AS change, request_bytes < 4096 AS is_small
    FROM by_kind('i_reads', 'power_w') r
    JOIN by_kind('i_writes', 'power_w') w USING (kind, device, request_bytes, io_depth)
    WHERE kind = k;
CREATE MACRO alike(k) AS
    (SELECT CASE WHEN middle IS NOT NULL THEN plain(abs(middle) < 0.05, NULL, []) END
     FROM (SELECT median(change) AS middle FROM changes(k) WHERE NOT is_small));
CREATE MACRO writes_more(way, small, least) AS
    (SELECT CASE WHEN cells > 0 THEN plain(holding >= least * cells, NULL, []) END
     FROM (SELECT count(*) AS cells, count(*) FILTER (way * change > 0) AS holding
           FROM changes('Optane') WHERE is_small = small));
CREATE MACRO with_rate(s, k) AS TABLE
    SELECT io_depth, m.mean, m.sd, m.n, r.mean AS rate
    FROM (FROM measured WHERE slice = s AND name = k AND mode = 'interrupt') m
    JOIN (FROM measured WHERE slice = s AND name = 'rate' AND mode = 'interrupt') r
        USING (io_depth);
CREATE MACRO kernel_cpu(s, wanted, printed) AS
    (SELECT CASE WHEN ratio IS NULL THEN NULL WHEN ratio BETWEEN 0.75 AND 1.25
        THEN verdict('holds', NULL, []) ELSE verdict(size_outcome(ratio), NULL, []) END
     FROM (SELECT mean / printed AS ratio
           FROM (SELECT avg(mean) AS mean FROM with_rate(s, 'cpu_sys_pct')
                 WHERE rate BETWEEN 0.9 * wanted AND 1.1 * wanted AND n > 1)));
-- Writing against reading at the lowest rate of interrupts that is about as high.
CREATE MACRO writes_cost(k) AS
    (SELECT CASE WHEN varied > 0 THEN verdict(
        share_outcome(more, cells, CASE WHEN less THEN 2.0 ELSE 1.0 END), NULL, n) END
     FROM (SELECT count(*) AS cells, bool_or(lead < 0 AND -lead >= two_sided * error) AS less,
                  count(*) FILTER (lead > 0 AND lead >= two_sided * error) AS more,
                  count(*) FILTER (error > 0 OR lead <> 0) AS varied,
                  different(flatten(list(ns ORDER BY io_depth))) AS n
           FROM (SELECT w.io_depth, w.mean - r.mean AS lead, [w.n, r.n] AS ns,
                        error_of(w.n, w.sd, r.n, r.sd) AS error, w.n + r.n - 2 AS freedom
                 FROM with_rate('writes', k) w JOIN with_rate('reads', k) r
                     ON r.rate >= 0.95 * w.rate
                 QUALIFY row_number() OVER (PARTITION BY w.io_depth
                                            ORDER BY r.rate, r.io_depth) = 1)
           JOIN student USING (freedom) WHERE list_min(ns) > 1));
CREATE MACRO ios_by_depth(k, is_falling) AS
    (SELECT CASE WHEN first = 1 AND last >= 64 THEN plain(CASE WHEN is_falling
            THEN best > first AND best < last AND most > mean
                AND most - mean >= two_sided * error ELSE best = last END, NULL, []) END
     FROM (SELECT min(io_depth) OVER () AS first, io_depth AS last, mean,
                  arg_max(io_depth, mean) OVER () AS best, max(mean) OVER () AS most,
                  error_of(arg_max(n, mean) OVER (), arg_max(sd, mean) OVER (), n, sd) AS error,
                  arg_max(n, mean) OVER () + n - 2 AS freedom
           FROM by_kind('i_four_reads', 'ios') WHERE kind = k)
     JOIN student USING (freedom) ORDER BY last DESC LIMIT 1);

---- schemes
-- From the values of models of interrupt handling in `models`: throughput, CPU left and latency by
-- scheme, solution, parameters and arrival rate. What has a formula is computed again before.

CREATE TABLE answers AS
SELECT *, throughput_kpps AS x, cpu_left AS v, latency_mean_us AS t, rate_kpps AS rate,
       coalesce(quota, 3) = 3 AND coalesce(poll_period_us, 20) = 20 AND coalesce(count, 8) = 8
       AND coalesce(delay_us, 50) = 50 AND coalesce(interrupt_us, 3.73) = 3.73
       AND coalesce(register_us, 0.5) = 0.5 AS is_published
FROM models;
-- One answer of a scheme at its published parameters.
CREATE MACRO answer(s, k, r) AS
    (SELECT a FROM answers a WHERE is_published AND scheme = s AND kind = k AND rate = r);
CREATE MACRO rates() AS [5, 10, 20, 40, 60, 80, 110, 150, 187, 250, 300, 400];
CREATE TABLE curves AS
SELECT name, rate, x, v, t
FROM answers JOIN (VALUES
    ('normal', 'normal', 'exact'), ('disable-enable', 'disable_enable', 'exact'),
    ('polling', 'pure_polling', 'paper'), ('count', 'count_coalescing', 'paper'),
    ('delay', 'time_coalescing', 'paper')) c(name, scheme, kind) USING (scheme, kind)
WHERE is_published AND list_contains(rates(), rate);
CREATE MACRO service(at_bytes) AS CASE at_bytes WHEN 64 THEN 5.34 ELSE 5.25 + 557 / 748 END;
CREATE MACRO cliff(service_us) AS
    1e3 / 3.73 / 2 * (sqrt(1 + 4 * 3.73 / service_us) - 1);
CREATE MACRO near(value, printed) AS abs(value - printed) <= 1;

---- print
-- From the papers' own tables: `performance`, `loads_stores` (millions a second), `idle_power`.

CREATE MACRO more_ios(m) AS
    (SELECT max(iops) FILTER (mode = m) - max(iops) FILTER (mode = 'interrupt')
     FROM performance WHERE threads = 1);
CREATE MACRO million(s, p, m) AS
    (SELECT millions_per_s FROM loads_stores WHERE source = s AND part = p AND mode = m);
CREATE MACRO way_of_hybrid(s) AS
    (million(s, 'sum', 'hybrid') - million(s, 'sum', 'interrupt'))
    / (million(s, 'sum', 'poll') - million(s, 'sum', 'interrupt'));

---- 002-C01
SELECT plain(near(a, 187) AND near(b, 167), a, [])
FROM (SELECT 1e3 / service(64) AS a, 1e3 / service(557) AS b);
---- 002-C02
SELECT plain(near(a, 127) AND near(b, 116) AND left_there < 0.01, a, [])
FROM (SELECT cliff(service(64)) AS a, cliff(service(557)) AS b,
          (SELECT arg_min(v, abs(rate - cliff(service(64)))) FROM answers
           WHERE scheme = 'normal' AND kind = 'paper') AS left_there);
---- 002-C03
SELECT plain(bool_and(coalesce(x < x_before AND t > t_before, TRUE)), arg_max(t, rate) / 1e3, [])
FROM (SELECT *, lag(x) OVER (ORDER BY rate) AS x_before, lag(t) OVER (ORDER BY rate) AS t_before
      FROM answers WHERE scheme = 'normal' AND kind = 'exact' AND is_published AND drops_interrupt
          AND rate >= 127.1 AND NOT list_contains(rates()[:-2], rate));
---- 002-C04
SELECT plain(max(best) < len(rates()), NULL, [])
FROM (SELECT count(*) FILTER (x >= 0.995 * x_most AND v >= 0.995 * v_most AND t <= 1.005 * t_least)
          AS best
      FROM (SELECT *, max(x) OVER r AS x_most, max(v) OVER r AS v_most, min(t) OVER r AS t_least
            FROM curves WINDOW r AS (PARTITION BY rate))
      GROUP BY name);
---- 002-C05
SELECT plain(own > other, own / other, [])
FROM (SELECT answer('disable_enable', 'exact', 0.5).t AS own,
             answer('normal', 'exact', 0.5).t AS other);
---- 002-C06
SELECT plain(bool_and(x >= x_other * (1 - 1e-9) AND (t <= 1.02 * t_other OR rate < 40)),
             max(x) FILTER (rate = 250), [])
FROM (FROM curves WHERE name = 'disable-enable') own
JOIN (SELECT rate, max(x) AS x_other, min(t) AS t_other FROM curves
      WHERE name <> 'disable-enable' GROUP BY rate) USING (rate);
---- 002-C07
SELECT verdict(share_outcome(count(*) FILTER (least = ['normal', 'disable-enable']), count(*)),
               NULL, [])
FROM (SELECT list(name ORDER BY v)[:2] AS least FROM curves WHERE rate IN (40, 80, 110)
      GROUP BY rate);
---- 002-C08
SELECT plain(bool_and(own > 0.01 AND own >= others), max(own) FILTER (rate = 250), [])
FROM (SELECT rate, max(v) FILTER (name = 'polling') AS own,
             max(v) FILTER (name <> 'polling') AS others
      FROM curves WHERE rate IN (187, 250, 400) GROUP BY rate);
---- 002-C09
SELECT plain(list_sort(x) = x AND list_reverse_sort(v) = v AND v[-1] < 0.005
             AND len(list_distinct(x)) = 3 AND len(list_distinct(v)) = 3, v[1], [])
FROM (SELECT list(x ORDER BY quota) AS x, list(v ORDER BY quota) AS v FROM answers
      WHERE scheme = 'pure_polling' AND kind = 'paper' AND rate = 300 AND poll_period_us = 20);
---- 002-C10
SELECT plain(max(x) FILTER (rate = 300 AND poll_period_us = 10)
             < max(x) FILTER (rate = 300 AND poll_period_us = 20)
             AND bool_and(coalesce(t > before OR rate = 300, TRUE)),
             max(t) FILTER (rate = 20 AND poll_period_us = 40), [])
FROM (SELECT *, lag(t) OVER (PARTITION BY rate ORDER BY poll_period_us) AS before FROM answers
      WHERE scheme = 'pure_polling' AND kind = 'paper' AND quota = 4);
---- 002-C11
SELECT plain(count_us > 1000 AND delay_us < 200, count_us, [])
FROM (SELECT max(t) FILTER (scheme = 'count_coalescing' AND count = 32) AS count_us,
             max(t) FILTER (scheme = 'time_coalescing' AND delay_us = 100) AS delay_us
      FROM answers WHERE rate = 1);
---- 002-C12
SELECT plain(off <= 1e-6, off, [])
FROM (SELECT max(greatest(abs(a.x / b.x - 1), abs(a.t / b.t - 1))) AS off
      FROM answers a JOIN answers b USING (rate)
      WHERE b.kind = CASE b.scheme WHEN 'normal' THEN 'paper' ELSE 'exact' END
          AND CASE WHEN b.scheme = 'normal' THEN a.scheme IN ('count_coalescing', 'time_coalescing')
                   WHEN b.scheme = 'ideal' THEN a.scheme = 'disable_enable' END
          AND coalesce(a.count, 1) = 1 AND coalesce(a.delay_us, 0) = 0
          AND (a.scheme <> 'disable_enable' OR a.interrupt_us + a.register_us = 0));
---- 002-C13
WITH napi AS (FROM answers WHERE scheme = 'napi' AND kind = 'simulated'),
pure AS (FROM answers WHERE scheme = 'pure_polling' AND kind = 'simulated')
SELECT CASE part
    WHEN 1 THEN plain(bool_and(n.v > p.v AND n.t < p.t) FILTER (rate <= 10),
                      arg_min(n.v, rate), [])
    WHEN 2 THEN plain(bool_and(p.v > n.v) FILTER (rate IN (40, 80)),
                      max(p.v) FILTER (rate = 80), [])
    ELSE plain(bool_and(abs(n.x / p.x - 1) <= 0.02 AND abs(n.t / p.t - 1) <= 0.1)
               FILTER (rate = 250), max(n.x / p.x) FILTER (rate = 250), []) END
FROM napi n JOIN pure p USING (rate) CROSS JOIN range(1, 4) r(part)
GROUP BY part ORDER BY part;
---- 002-C14
-- Traffic is ambiguous: the text allows three readings of the bursty sources. So in C15.
SELECT NULL;
---- 002-C15
SELECT NULL;
---- 002-C16
SELECT plain(more >= 0.1, more, [])
FROM (SELECT answer('hybrid', 'paper', 250).v - answer('disable_enable', 'exact', 250).v AS more);
---- 003-C01a
SELECT unnest([twice_in_workloads('ebbrt_tuned', 'performance'),
               twice_in_workloads('ebbrt_tuned', 'energy_j')]);
---- 003-C01b
SELECT unnest([twice_in_workloads('linux_tuned', 'performance'),
               twice_in_workloads('linux_tuned', 'energy_j')]);
---- 003-C02
SELECT gain('netpipe 8192', 'linux_default', 'ebbrt_poll', 'product', 11);
---- 003-C03
SELECT unnest([greatest_gain(silo(), 'linux_default', 'linux_tuned', 'performance', 1 / 0.5),
               greatest_gain(silo(), 'linux_default', 'linux_tuned', 'energy_j', 1 / 0.45)]);
---- 003-C04
SELECT against('memcached 200000', 'ebbrt_tuned', 'performance', 'ebbrt_poll', 'energy_j', k, printed)
FROM (VALUES ('performance', 1 / 0.73), ('energy_j', 1 / 0.65)) v(k, printed);
---- 003-C06
SELECT unnest([least_with_polling(silo(), 'performance'),
    CASE WHEN marked(silo(), ['ebbrt_poll', 'linux_default', 'linux_tuned', 'ebbrt_tuned']) THEN
        (SELECT plain(min(new.energy_j / old.energy_j) > 1.6, min(new.energy_j / old.energy_j), [])
         FROM pairs(silo(), 'linux_tuned', 'ebbrt_poll', 'performance')) END]);
---- 003-C07
SELECT gain('nodejs', 'linux_tuned', 'ebbrt_tuned', 'product', 1.88);
---- 003-C08
WITH sustained AS (
    SELECT system, max({'place': place, 'n': n}) AS most FROM cells
    WHERE workload = 'memcached' AND performance <= 500 GROUP BY system),
both_sides AS (
    SELECT (SELECT most FROM sustained WHERE system = 'ebbrt_tuned') AS own,
           (SELECT max(most) FROM sustained WHERE system LIKE 'linux%') AS linux)
SELECT CASE WHEN linux.place < (SELECT max(place) FROM cells WHERE workload = 'memcached')
        OR has(['memcached 1000000', 'memcached 1500000'], tuned())
    THEN verdict(size_outcome(own.place / linux.place / 2), own.place / linux.place,
                 [own.n, linux.n]) END
FROM both_sides WHERE own IS NOT NULL AND linux IS NOT NULL;
---- 003-C09
SELECT greatest_gain(silo(), 'linux_default', 'ebbrt_tuned', 'energy_j', 1 / 0.15);
---- 003-C10
SELECT shared(count(*) FILTER (value >= 0.5), closed(), tuned(), median(value),
              list(n ORDER BY list_position(closed(), panel), system DESC))
FROM by_delay('performance', 0) JOIN totals USING (panel, system)
WHERE list_contains(closed(), panel) AND list_contains(tuned(), system);
---- 003-C11
SELECT shared(count(*) FILTER (rho >= 0.5), ['nodejs', 'netpipe 64'], tuned(), median(rho),
              list(n ORDER BY list_position(closed(), panel), system DESC))
FROM (SELECT panel, system, corr(x, y) AS rho, sum(n) AS n
      FROM (SELECT panel, system, n,
                rank() OVER (a ORDER BY time) - rank() OVER (a ORDER BY time DESC) AS x,
                rank() OVER (a ORDER BY energy) - rank() OVER (a ORDER BY energy DESC) AS y
            FROM (SELECT *, performance::FLOAT AS time, energy_j::FLOAT AS energy FROM cells)
            WHERE panel IN ('nodejs', 'netpipe 64') AND list_contains(tuned(), system)
            WINDOW a AS (PARTITION BY panel, system))
      GROUP BY ALL);
---- 003-C12
SELECT unnest([product_with_itr('nodejs', 'linux_default', 'linux_tuned', 2, 2),
               product_with_itr('netpipe 64', 'linux_default', 'linux_tuned', 2, 2)]);
---- 003-C13
SELECT unnest([gain('nodejs', 'linux_tuned', 'ebbrt_tuned', 'product', 1.85),
               gain('netpipe 64', 'linux_tuned', 'ebbrt_tuned', 'product', 1.85)]);
---- 003-C14
SELECT least_with_polling(closed()[:3], 'product');
---- 003-C15
SELECT unnest([delay_by_size('linux_tuned'), delay_by_size('ebbrt_tuned')]);
---- 003-C16
SELECT greatest_gain(netpipe(), 'linux_default', 'linux_tuned', 'product', 1.80, most_noise := 0.10);
---- 003-C17
SELECT fewest_instructions(p) FROM unnest(closed()) WITH ORDINALITY u(p, place) ORDER BY place;
---- 003-C18
SELECT greatest_gain(netpipe(), 'linux_tuned', 'ebbrt_tuned', 'product', 2);
---- 003-C19
SELECT plain(abs(x / 1.04 - 1) <= 0.04, x, [o.n, w.n])
FROM (SELECT old AS o, new AS w, gain AS x FROM pairs(['nodejs'], 'ebbrt_tuned', 'ebbrt_poll', 'product'));
---- 003-C20
SELECT unnest([gain('netpipe 64', 'ebbrt_tuned', 'ebbrt_poll', 'product', 1.6),
               gain('netpipe 8192', 'ebbrt_tuned', 'ebbrt_poll', 'product', 3)]);
---- 003-C21
SELECT unnest([polling_worse('ebbrt_poll', 'ebbrt_tuned', 'product', 2),
               polling_worse('ebbrt_tuned', 'ebbrt_poll', 'performance', 1 / 0.9),
               polling_worse('ebbrt_poll', 'ebbrt_tuned', 'energy_j', 2, least := 1.0)]);
---- 003-C22
SELECT unnest([interrupts_cut('nodejs'), interrupts_cut('netpipe 64')]);
---- 003-C23
SELECT unnest([CASE WHEN has(memcached(), tuned()) THEN
    (SELECT verdict(size_outcome(ln(avg(ratio)) / ln(2.5)), avg(ratio), [sum(l_n), sum(e_n)])
     FROM like_settings(memcached())) END, ipc(memcached(), -1)]);
---- 003-C24
WITH steepness AS (
    SELECT system, list(slope ORDER BY panel) AS each_one
    FROM (SELECT panel, system, median(slope) AS slope FROM slopes
          WHERE rapl = 135 AND span > 1 AND list_contains(memcached(), panel) GROUP BY ALL)
    GROUP BY system)
SELECT CASE WHEN has(memcached(), tuned()) THEN
    plain(list_max(list_transform(e.each_one, lambda x: abs(x))) < 0.15 AND abs(l.each_one[-1]) > 0.3
        AND list_bool_and(list_transform(list_zip(e.each_one, l.each_one),
                                         lambda x: abs(x[1]) < abs(x[2]))),
        l.each_one[-1], (SELECT list(n ORDER BY panel, system DESC) FROM totals
            WHERE list_contains(memcached(), panel) AND list_contains(tuned(), system))) END
FROM steepness e, steepness l WHERE e.system = 'ebbrt_tuned' AND l.system = 'linux_tuned';
---- 003-C25
SELECT NULL;
---- 003-C26
SELECT unnest([slowest_itr_saves(TRUE, 52), slowest_itr_saves(FALSE, 342)]);
---- 003-C27
WITH knobs AS (
    SELECT panel, system, list(DISTINCT ghz ORDER BY ghz) AS clocks,
           list(DISTINCT itr ORDER BY itr) AS delays, sum(n) AS n
    FROM cells WHERE list_contains(memcached(), panel) AND list_contains(tuned(), system)
    GROUP BY ALL),
slow AS (
    SELECT panel, system, knobs.n, (list_contains(clocks[:ceil(len(clocks) / 3)::INTEGER], ghz)
        AND list_contains(delays[len(delays) // 2 + 1:], itr))::INTEGER AS is_slow
    FROM knobs JOIN marks USING (panel, system) WHERE mark = 'energy_j')
SELECT shared(sum(is_slow), memcached(), tuned(), median(is_slow), list(n ORDER BY panel, system DESC))
FROM slow;
---- 003-C28
SELECT shared(count(*) FILTER (way * value >= 0.8), memcached(), tuned(), median(value),
              list(n ORDER BY panel, system DESC))
FROM (SELECT 1 AS part, -1 AS way, * FROM by_delay('interrupts', 135) UNION ALL
      SELECT 2, -1, * FROM by_delay('instructions', 135) UNION ALL
      SELECT 3, 1, * FROM by_delay('performance', 135)) JOIN totals USING (panel, system)
WHERE list_contains(memcached(), panel) AND list_contains(tuned(), system)
GROUP BY part ORDER BY part;
---- 003-C29
SELECT unnest([gain('memcached 200000', 'linux_default', 'linux_tuned', 'performance', 1 / 0.60),
               gain('memcached 600000', 'linux_default', 'linux_tuned', 'performance', 1 / 0.75)]);
---- 003-C30
SELECT against(p, 'linux_tuned', 'performance', 'linux_default', 'performance', 'energy_j', printed)
FROM (VALUES ('memcached 200000', 1.38), ('memcached 600000', 1.05)) v(p, printed);
---- 003-C31
SELECT least_with_polling(memcached(), 'performance');
---- 003-C32
SELECT unnest([polling_range('energy_j', 0.11, 0.38), polling_range('performance', -0.90, -0.10)]);
---- 003-C33
SELECT unnest([gain(silo()[3], 'linux_default', 'linux_tuned', 'performance', 1 / 0.79),
               gain(silo()[3], 'linux_default', 'linux_tuned', 'energy_j', 1 / 0.80)]);
---- 003-C34
SELECT unnest([gain(silo()[3], 'linux_tuned', 'ebbrt_tuned', 'performance', 1 / 0.66),
               gain(silo()[3], 'linux_tuned', 'ebbrt_tuned', 'energy_j', 1 / 0.56)]);
---- 003-C35
WITH limits AS (
    SELECT *, max(ghz) OVER a AS quick, min(ghz) OVER a AS slow, min(itr) OVER a AS fast,
           max(itr) OVER a AS late
    FROM cells WHERE rapl = 135 AND list_contains(silo(), panel) AND list_contains(tuned(), system)
    WINDOW a AS (PARTITION BY panel, system)),
corners AS (
    SELECT place, system, sum(n) AS n, avg(energy_j) FILTER (ghz = quick AND itr = fast) AS base,
           base - avg(energy_j) FILTER (ghz = slow AND itr = fast) AS by_clock,
           base - avg(energy_j) FILTER (ghz = quick AND itr = late) AS by_delay
    FROM limits GROUP BY ALL),
falls AS (
    SELECT system, list(by_delay ORDER BY place) AS saved FROM corners GROUP BY system)
SELECT CASE WHEN has(silo(), tuned()) AND bool_and(by_clock + by_delay IS NOT NULL) THEN
    verdict(share_outcome(count(*) FILTER (by_clock > by_delay) + (SELECT count(*) FROM falls
        WHERE saved[1] > saved[2] AND saved[2] > saved[3]), 8), NULL,
        list(n ORDER BY system DESC, place)) END
FROM corners;
---- 003-C36
SELECT shared(count(*) FILTER (is_least), silo()[2:], ['ebbrt_tuned'],
              median(is_least::INTEGER), list(n ORDER BY place))
FROM (SELECT place, sum(c.n) AS n, any_value(marks.itr) = min(c.itr) AS is_least
      FROM cells c JOIN marks USING (panel, system)
      WHERE list_contains(silo()[2:], panel) AND system = 'ebbrt_tuned' AND mark = 'energy_j'
      GROUP BY panel, place);
---- 003-C37
SELECT unnest([CASE WHEN has(silo(), tuned()) THEN
    (SELECT verdict(share_outcome(count(*) FILTER (ratio BETWEEN 0.8 AND 1.25), 3),
                    arg_min(ratio, place), [sum(l_n), sum(e_n)])
     FROM like_settings(silo())) END, ipc(silo(), 1)]);
---- 003-C38
SELECT unnest([slow_itr_saves_more(silo()[1]), slow_itr_saves_more(silo()[2])]);
---- 003-C41
SELECT unnest([steeper_than_memcached('linux_tuned'), steeper_than_memcached('ebbrt_tuned')]);
---- 003-C42
SELECT shared(count(*) FILTER (CASE part WHEN 1 THEN ghz <= 2.0 ELSE itr >= 20 END), netpipe()[3:],
              tuned(), median(CASE part WHEN 1 THEN ghz ELSE itr END),
              list(totals.n ORDER BY list_position(netpipe(), panel), system DESC))
FROM marks JOIN totals USING (panel, system) CROSS JOIN (VALUES (1), (2)) p(part)
WHERE mark = 'product' AND list_contains(netpipe()[3:], panel) AND list_contains(tuned(), system)
GROUP BY part ORDER BY part;
---- 003-C43
SELECT CASE WHEN count(*) > 0 THEN verdict(
    CASE WHEN share >= 0.95 THEN 'holds' WHEN share >= 0.5 THEN 'holds in part'
         ELSE 'does not hold' END, share, [sum(n)]) END
FROM (SELECT n, avg((n >= 10)::INTEGER) OVER () AS share FROM cells
      WHERE list_contains(list_concat(closed(), memcached()), panel))
GROUP BY share;
---- 000-O1
SELECT unnest([faster_by('poll', 24000), faster_by('hybrid', 17000),
               ordered('iops', 'poll', 'interrupt', deepest := 8),
               ordered('iops', 'hybrid', 'interrupt', deepest := 8)]);
---- 000-O2
SELECT unnest([ordered('cpu_pct', 'hybrid', 'interrupt', 0.8),
               ordered('cpu_pct', 'poll', 'hybrid', 0.8)]);
---- 000-O3
SELECT unnest([power_inverted('hybrid', 'poll'), power_inverted('interrupt', 'poll')]);
---- 000-O4
SELECT unnest([
    (SELECT CASE WHEN count(*) > 0 THEN verdict(share_outcome(
        count(*) FILTER (0.1 * abs(other) - abs(lead) >= one_sided * error), count(*)), NULL,
        different(flatten(list(ns ORDER BY io_depth)))) END
     FROM compared('switches', 'hybrid', 'interrupt')),
    switches('hybrid', 0.9, 1.1), switches('interrupt', 0.9, 1.1), switches('poll', 0, 0.01)]);
---- 000-O5
SELECT unnest([moves_ordered('all', 'hybrid', 'poll', 'interrupt'),
               moves_ordered('scheduler', 'hybrid', 'interrupt', 'poll'),
               moves_ordered('block', 'poll', 'hybrid', 'interrupt')]);
---- 000-O6
SELECT CASE WHEN count(*) > 0 THEN plain(coalesce(
    median(latency) FILTER (best = 'poll') < median(latency) FILTER (best = 'interrupt'), FALSE),
    NULL, different(flatten(list(ns ORDER BY request_bytes, io_depth)))) END
FROM won LEFT JOIN (SELECT request_bytes, io_depth, mean AS latency FROM measured
    WHERE slice = 'tiles' AND name = 'latency_us' AND mode = 'poll')
    USING (request_bytes, io_depth);
---- 000-C7
SELECT unnest([
    (SELECT CASE WHEN count(*) > 0 THEN plain(count(*) FILTER (below = 2) > 0.5 * count(*), NULL, [])
        END FROM (SELECT count(*) FILTER (o.mean > h.mean AND o.mean - h.mean
                      >= two_sided * error_of(o.n, o.sd, h.n, h.sd)) AS below
                  FROM tiles h JOIN tiles o USING (request_bytes, io_depth)
                  JOIN student ON freedom = h.n + o.n - 2
                  WHERE h.mode = 'hybrid' AND o.mode <> 'hybrid' GROUP BY request_bytes, io_depth)),
    (SELECT CASE WHEN count(*) > 0 THEN plain(count(*) FILTER (best = 'hybrid') < 0.1 * count(*),
        NULL, different(flatten(list(ns ORDER BY request_bytes, io_depth)))) END FROM won)]);
---- 004-O1
SELECT unnest([idle_less(['SATA flash', 'NVMe flash', 'flash'], 'Optane'),
               idle_less(['Optane'], 'disk')]);
---- 004-O2
SELECT unnest([less(peak('disk'), peak('SATA flash')), less(peak('SATA flash'), peak('NVMe flash')),
               less(peak('NVMe flash'), peak('Optane'))]);
---- 004-O3
SELECT unnest([alike('disk'), alike('SATA flash'), alike('NVMe flash'),
               writes_more(1, FALSE, 0.9), writes_more(-1, TRUE, 1.0)]);
---- 004-O4
SELECT unnest([less(span('disk'), span('SATA flash')), less(span('SATA flash'), span('NVMe flash')),
               less(span('NVMe flash'), span('Optane')), less(0.5, span('Optane'))]);
---- 004-O5
SELECT unnest([
    (SELECT CASE WHEN rate IS NULL THEN NULL
        WHEN rate < 540000 AND size_outcome(rate / 600000) = 'holds'
        THEN verdict('nearly', NULL, []) ELSE verdict(size_outcome(rate / 600000), NULL, []) END
     FROM (SELECT max(interrupts_per_s) AS rate FROM storage WHERE interrupts_per_s_n > 1)),
    kernel_cpu('writes', 400000, 300), kernel_cpu('reads', 600000, 100),
    writes_cost('cpu_sys_pct')]);
---- 004-O6
SELECT CASE WHEN count(*) > 0
    THEN verdict(share_outcome(count(*) FILTER (rises), count(*), 0.95), NULL, []) END
FROM (SELECT bool_and(coalesce(step >= -2 * sqrt(square), TRUE)) AS rises
      FROM (SELECT device, io_depth, mean - lag(mean) OVER sizes AS step,
                   sd ** 2 / n + lag(sd ** 2 / n) OVER sizes AS square
            FROM by_kind('i_rw', 'bytes')
            WINDOW sizes AS (PARTITION BY device, io_depth ORDER BY request_bytes))
      GROUP BY device, io_depth HAVING count(*) > 2);
---- 004-O7
SELECT unnest([ios_by_depth('Optane', TRUE), ios_by_depth('NVMe flash', FALSE)]);
---- 004-C8
SELECT CASE WHEN count(*) > 0
    THEN verdict(share_outcome(count(*) FILTER (own > others), count(*)), NULL, []) END
FROM (SELECT max(mean) FILTER (kind = 'Optane') AS own, max(mean) FILTER (kind <> 'Optane') AS others
      FROM by_kind('i_rw', 'bytes') WHERE kind IN ('disk', 'SATA flash', 'NVMe flash', 'Optane')
      GROUP BY request_bytes, io_depth HAVING count(DISTINCT kind) = 4);
---- 004-C9
SELECT unnest([writes_cost('power_w'),
    (SELECT CASE WHEN r + w > 0 THEN plain(r / w > 1 AND r / w <= 1.25, NULL, []) END
     FROM (SELECT max(mean) FILTER (slice = 'reads') AS r, max(mean) FILTER (slice = 'writes') AS w
           FROM measured WHERE slice IN ('reads', 'writes') AND name = 'power_w'
               AND mode = 'interrupt' AND n > 1))]);
---- 000-P1
SELECT plain(p = 23748 AND h = 17124, p, [])
FROM (SELECT more_ios('poll') AS p, more_ios('hybrid') AS h);
---- 000-P2
SELECT verdict(size_outcome(x / 0.5), x, [])
FROM (SELECT million('block/', 'blk_poll', 'hybrid') / million('block/', 'blk_poll', 'poll') AS x);
---- 000-P3
SELECT plain(most = 'hybrid' AND least > 1 AND x BETWEEN 0.8 AND 1.25, x, [])
FROM (SELECT (SELECT arg_max(mode, millions_per_s) FROM loads_stores WHERE part = 'total') AS most,
          (SELECT min(million('kernel/sched/', 'sum', m) / million('block/', 'sum', m))
           FROM (VALUES ('interrupt'), ('hybrid')) v(m)) AS least,
          million('kernel/sched/', 'sum', 'hybrid') / million('block/', 'sum', 'poll') AS x);
---- 000-P4
SELECT verdict(size_outcome(x / 0.5), x, []) FROM (SELECT way_of_hybrid('block/') AS x);
---- 000-P5
SELECT plain(abs(h / p - 1) <= 0.05 AND p >= 1.25 AND h >= 1.25, p, [])
FROM (SELECT million('block/', 'blk_mq_*', 'poll') / million('block/', 'blk_mq_*', 'interrupt') AS p,
          million('block/', 'blk_mq_*', 'hybrid') / million('block/', 'blk_mq_*', 'interrupt') AS h);
---- 000-P6
SELECT plain(min(ratio) >= 0.95 AND max(ratio) <= 1.10, max(ratio), [])
FROM (SELECT threads / (latency_us * 1e-6) / iops AS ratio FROM performance);
---- 004-P1
SELECT plain([f - bare, o - bare, d - bare] = [2, 5, 10], f - bare, [])
FROM (SELECT max(power_w) FILTER (configuration = 'no device under test') AS bare,
             max(power_w) FILTER (configuration LIKE '%flash%') AS f,
             max(power_w) FILTER (configuration LIKE '%Optane%') AS o,
             max(power_w) FILTER (configuration = 'magnetic disk') AS d FROM idle_power);
