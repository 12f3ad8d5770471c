/*
 * The exact chain of coalescing by count, as in data/models/count_chain.py. It eliminates levels from the
 * end that the ring rarely reaches. A Float64Array holds the rows of a matrix.
 */
(function (wattlas) {
  "use strict";

  const SAME = 1e-13;

  class Chain {
    constructor(rate, service, interrupt, ring, count, isGated, drops) {
      Object.assign(this, { rate, work: 1 / service, ends: 1 / interrupt, ring, count, isGated, drops });
      this.sums = { work: 0, interrupt: 0, idle: 0, full: 0, packets: 0 };
    }

    phases(level) {
      return this.isGated || level >= this.count ? this.count + 1 : 2 * this.count + 1;
    }

    isWorking(level, phase) {
      return this.isGated ? level > phase : level > 0;
    }

    raised(level, phase) {
      const { count } = this;
      if (phase === count) return count;
      if (phase < count) return phase + 1;
      return level + 1 + phase - count - 1 >= count ? count : phase;
    }

    lowered(level, phase) {
      return level === 1 && !this.isGated ? this.count + 1 + phase : phase;
    }

    inside(level) {
      const size = this.phases(level), moves = new Float64Array(size * size);
      if (level > 0) moves[this.count * size] = this.ends;
      if (level === this.ring && this.drops) {
        for (let phase = 0; phase < this.count; phase += 1) {
          moves[phase * size + this.raised(level, phase)] += this.rate;
        }
      }
      return moves;
    }

    returnFromAbove(level, moves, times, above) {
      const size = this.phases(level), { count } = this, rate = this.rate * this.work;
      // All levels from here on are alike: an arrival leads to the next phase, a departure to the same.
      if (level >= count && level > 0) {
        for (let phase = 0; phase <= count; phase += 1) {
          const from = Math.min(phase + 1, count) * above, to = phase * size;
          for (let other = 0; other < count; other += 1) {
            if (other !== phase) moves[to + other] += rate * times[from + other];
          }
        }
        return;
      }
      for (let phase = 0; phase < size; phase += 1) {
        const up = this.raised(level, phase);
        for (let other = 0; other < this.count; other += 1) {
          if (!this.isWorking(level + 1, other)) continue;
          const back = this.lowered(level + 1, other);
          if (back !== phase) moves[phase * size + back] += this.rate * times[up * above + other] * this.work;
        }
      }
    }

    returnFromBelow(level, moves, times, below) {
      const size = this.phases(level), { count } = this, rate = this.rate * this.work;
      if (level > count) {
        for (let phase = 0; phase < count; phase += 1) {
          for (let other = 0; other <= count; other += 1) {
            const back = Math.min(other + 1, count);
            if (back !== phase) moves[phase * size + back] += rate * times[phase * below + other];
          }
        }
        return;
      }
      for (let phase = 0; phase < this.count; phase += 1) {
        if (!this.isWorking(level, phase)) continue;
        const down = this.lowered(level, phase);
        for (let other = 0; other < below; other += 1) {
          const back = this.raised(level - 1, other);
          if (back !== phase)
            moves[phase * size + back] += this.work * times[down * below + other] * this.rate;
        }
      }
    }

    add(level, found) {
      const { sums } = this;
      let all = 0;
      for (let phase = 0; phase < found.length; phase += 1) {
        all += found[phase];
        if (phase === this.count) sums.interrupt += found[phase];
        else if (phase < this.count && this.isWorking(level, phase)) sums.work += found[phase];
        else sums.idle += found[phase];
      }
      if (level === this.ring) sums.full += all;
      sums.packets += level * all;
    }

    /** Whether a level adds nothing to the sums; further levels then add nothing either. */
    isNothing(found) {
      const { work, interrupt, idle } = this.sums, total = work + interrupt + idle;
      for (let phase = 0; phase < found.length; phase += 1) if (found[phase] > 1e-25 * total) return false;
      return true;
    }

    fromAbove() {
      const { ring, count } = this, kept = [];
      let times = null, above = 0, isSettled = false;
      for (let level = ring; level > 0; level -= 1) {
        if (!(isSettled && level >= count)) {
          const size = this.phases(level), moves = this.inside(level), exits = new Float64Array(size);
          for (let phase = 0; phase < Math.min(size, count); phase += 1) {
            if (this.isWorking(level, phase)) exits[phase] = this.work;
          }
          if (level < ring) this.returnFromAbove(level, moves, times, above);
          const before = times;
          times = inverse(moves, exits, size);
          isSettled = level > count && level < ring - 1 && above === size && isSame(times, before);
          above = size;
        }
        kept[level] = times;
      }
      const size = this.phases(0), moves = this.inside(0);
      this.returnFromAbove(0, moves, times, above);
      let found = stationary(moves, size, this.isGated ? 0 : count + 1);
      this.add(0, found);
      for (let level = 1; level <= ring && !(level > count && this.isNothing(found)); level += 1) {
        const entered = new Float64Array(this.phases(level));
        for (let phase = 0; phase < found.length; phase += 1) {
          const up = level > count ? Math.min(phase + 1, count) : this.raised(level - 1, phase);
          if (found[phase] !== 0) entered[up] += this.rate * found[phase];
        }
        found = product(entered, kept[level]);
        this.add(level, found);
      }
    }

    fromBelow() {
      const { ring, count } = this, kept = [];
      let times = null, below = 0, isSettled = false;
      for (let level = 0; level < ring; level += 1) {
        if (!isSettled) {
          const size = this.phases(level), moves = this.inside(level);
          if (level > 0) this.returnFromBelow(level, moves, times, below);
          const before = times;
          times = inverse(moves, new Float64Array(size).fill(this.rate), size);
          isSettled = level > count + 1 && below === size && isSame(times, before);
          below = size;
        }
        kept[level] = times;
      }
      const moves = this.inside(ring);
      this.returnFromBelow(ring, moves, times, below);
      let found = stationary(moves, this.phases(ring), count);
      this.add(ring, found);
      for (let level = ring - 1; level >= 0 && !this.isNothing(found); level -= 1) {
        const entered = new Float64Array(this.phases(level));
        for (let phase = 0; phase < count; phase += 1) {
          if (this.isWorking(level + 1, phase)) {
            entered[this.lowered(level + 1, phase)] += this.work * found[phase];
          }
        }
        found = product(entered, kept[level]);
        this.add(level, found);
      }
    }
  }

  /** Mean time in phase j from phase i until the level is left. Changes its arguments. */
  function inverse(moves, exits, size) {
    const pivots = new Float64Array(size), times = new Float64Array(size * size);
    for (let k = 0; k < size; k += 1) {
      let pivot = exits[k];
      for (let j = k + 1; j < size; j += 1) pivot += moves[k * size + j];
      pivots[k] = pivot;
      if (pivot === 0) continue;
      for (let i = k + 1; i < size; i += 1) {
        const share = moves[i * size + k] / pivot;
        if (share === 0) continue;
        exits[i] += share * exits[k];
        for (let j = k + 1; j < size; j += 1)
          if (j !== i) moves[i * size + j] += share * moves[k * size + j];
      }
    }
    for (let target = 0; target < size; target += 1) {
      if (pivots[target] === 0) continue;
      for (let i = target; i < size; i += 1) {
        if (pivots[i] === 0) continue;
        let found = i === target ? 1 : 0;
        for (let k = target; k < i; k += 1) {
          if (pivots[k] !== 0) found += moves[i * size + k] * times[k * size + target];
        }
        times[i * size + target] = found / pivots[i];
      }
      for (let i = size - 1; i >= 0; i -= 1) {
        if (pivots[i] === 0) continue;
        let found = 0;
        for (let j = i + 1; j < size; j += 1) found += moves[i * size + j] * times[j * size + target];
        times[i * size + target] += found / pivots[i];
      }
    }
    return times;
  }

  /** Stationary vector, not normalised, of a chain in which `last` recurs. */
  function stationary(given, size, last) {
    const order = Array.from({ length: size }, (_, k) => (k === 0 ? last : k === last ? 0 : k));
    const moves = new Float64Array(size * size), sums = new Float64Array(size),
      found = new Float64Array(size);
    order.forEach((from, i) =>
      order.forEach((to, j) => {
        moves[i * size + j] = given[from * size + to];
      }),
    );
    for (let k = size - 1; k > 0; k -= 1) {
      for (let j = 0; j < k; j += 1) sums[k] += moves[k * size + j];
      if (sums[k] === 0) continue;
      for (let i = 0; i < k; i += 1) {
        const share = moves[i * size + k] / sums[k];
        for (let j = 0; j < k; j += 1) if (j !== i) moves[i * size + j] += share * moves[k * size + j];
      }
    }
    found[0] = 1;
    for (let k = 1; k < size; k += 1) {
      if (sums[k] === 0) continue;
      for (let i = 0; i < k; i += 1) found[k] += found[i] * moves[i * size + k];
      found[k] /= sums[k];
    }
    return Float64Array.from(order, (place) => found[place]);
  }

  function product(row, matrix) {
    const size = row.length, found = new Float64Array(size);
    for (let i = 0; i < size; i += 1) {
      if (row[i] === 0) continue;
      for (let j = 0; j < size; j += 1) found[j] += row[i] * matrix[i * size + j];
    }
    return found;
  }

  function isSame(one, other) {
    let largest = 0, apart = 0;
    for (let i = 0; i < one.length; i += 1) {
      largest = Math.max(largest, one[i]);
      apart = Math.max(apart, Math.abs(one[i] - other[i]));
    }
    return apart <= SAME * largest;
  }

  /** Shares of work, interrupt, idle and of a full ring; mean packets. */
  wattlas.countChain = function (rate, service, interrupt, ring, count, isGated, drops) {
    const chain = new Chain(rate, service, interrupt, ring, count, isGated, drops);
    const share = interrupt / (count / rate + interrupt);
    if (rate * service > 1 - share) chain.fromBelow();
    else chain.fromAbove();
    const { sums } = chain, total = sums.work + sums.interrupt + sums.idle;
    return Object.fromEntries(Object.entries(sums).map(([name, value]) => [name, value / total]));
  };
})((window.wattlas = window.wattlas || {}));
