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
CREATE MACRO pooled(sd, n) AS coalesce(sqrt(sum((n - 1) * sd ** 2) / sum(n - 1)), 0);
CREATE TABLE noise AS
SELECT panel, system, pooled(performance_sd, n) AS performance, pooled(energy_sd, n) AS energy_j,
       pooled(product_sd, n) AS product
FROM cells WHERE n > 1 GROUP BY ALL;
-- The paper prints no limit of the tail: 500 us is ours. The default is no choice.
CREATE TABLE marks AS
SELECT mark, c.panel, c.system, c.n, itr, ghz, c.performance, c.energy_j, c.product,
       coalesce(noise.performance, 0) AS performance_noise,
       coalesce(noise.energy_j, 0) AS energy_noise,
       coalesce(noise.product, 0) AS product_noise
FROM cells c CROSS JOIN (VALUES ('performance'), ('energy_j'), ('product')) m(mark)
     LEFT JOIN noise USING (panel, system)
WHERE workload NOT LIKE 'memcached%' OR system = 'linux_default' OR c.performance <= 500
QUALIFY row_number() OVER (PARTITION BY mark, panel, system ORDER BY of(c, mark),
    itr NULLS FIRST, ghz DESC NULLS FIRST, rapl DESC NULLS FIRST) = 1;
CREATE MACRO noise_of(mark, k) AS
    CASE k WHEN 'performance' THEN mark.performance_noise WHEN 'energy_j' THEN mark.energy_noise
           ELSE mark.product_noise END;
-- Old over new against a printed factor, by the ratio of the logarithms; one-sided from `least` on.
CREATE MACRO factor(old, new, k, printed, least := 1e9) AS
    CASE WHEN abs(ln(of(old, k) / of(new, k))) < 2 * sqrt(
        noise_of(old, k) ** 2 / old.n + noise_of(new, k) ** 2 / new.n)
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
         WHERE noise_of(old, k) <= most_noise ORDER BY gain DESC LIMIT 1) END;
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
