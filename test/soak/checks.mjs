// Checks for growth that do not depend on the load of the machine.

const MB = 1024 * 1024;

/** Growth of a series of `{at, value}` in bytes over its second half, by the median of all slopes (Theil–Sen). */
export function growth(series) {
  const half = series.slice(Math.floor(series.length / 2));
  const slopes = half.flatMap((a, index) => half.slice(index + 1).map((b) => (b.value - a.value) / (b.at - a.at)));
  const span = (half.at(-1)?.at ?? 0) - (half[0]?.at ?? 0);
  return { grown: median(slopes) * span, level: median(half.map(({ value }) => value)) };
}

/** A series is flat if its growth is within an allowance and a part of its level. */
export function flat(name, series, { allowedMb, part }) {
  const { grown, level } = growth(series);
  const limit = Math.max(allowedMb * MB, level * part);
  const said = `${name} grew by ${(grown / MB).toFixed(2)} MB in the second half, at ${(level / MB).toFixed(0)} MB (limit ${(limit / MB).toFixed(1)} MB)`;
  return { holds: grown <= limit, said };
}

/**
 * Compares times of answers, `{at, ms}`, of the last third with the first. Uses the quieter seconds of each third,
 * because other load comes and goes. `lags` are delays of the clients' own event loop and measure that load.
 */
export function steady(part, { times, lags, factor, allowedMs }) {
  const bySecond = Map.groupBy(times, ({ at }) => Math.floor(at / 1000));
  const seconds = [...bySecond].map(([at, each]) => ({
    at,
    value: quantile(
      each.map(({ ms }) => ms),
      part,
    ),
  }));
  const [first, , last] = splitIn3(seconds).map((third) => quantile(third, 0.25));
  const lag = Math.max(0, quantile(splitIn3(lags)[2], 0.9));
  const limit = first * factor + allowedMs + 4 * lag;
  const said = `p${part * 100} was ${first.toFixed(1)} ms in the first third and ${last.toFixed(1)} ms in the last (limit ${limit.toFixed(1)} ms)`;
  return { holds: last <= limit, said };
}

/** CPU time per operation, from samples `{at, cpuMicros, done}`, in the last third against the first. */
export function asDear(samples, { factor }) {
  const costs = samples.slice(1).flatMap(({ at, cpuMicros, done }, index) => {
    const before = samples[index];
    return done > before.done ? [{ at, value: (cpuMicros - before.cpuMicros) / (done - before.done) }] : [];
  });
  const [first, , last] = splitIn3(costs).map(median);
  const said = `${first.toFixed(0)} µs of CPU time per operation in the first third, ${last.toFixed(0)} µs in the last (limit ${(first * factor).toFixed(0)} µs)`;
  return { holds: last <= first * factor, said };
}

/** The values of a series of `{at, value}` by the third of its time. */
function splitIn3(series) {
  const sorted = series.toSorted((a, b) => a.at - b.at);
  const [from, to] = [sorted[0]?.at ?? 0, sorted.at(-1)?.at ?? 0];
  const third = (to - from) / 3;
  return [0, 1, 2].map((index) =>
    sorted.filter(({ at }) => at >= from + index * third && at <= from + (index + 1) * third).map(({ value }) => value),
  );
}

/** The value below which that part of all lies. */
export function quantile(values, part) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}

function median(values) {
  return quantile(values, 0.5);
}
