// Small geometry that the overlays need and tests can check.

// Corners of the convex hull of points in the plane, counter-clockwise (Andrew's chains).
export function convexHull(points: [number, number][]): [number, number][] {
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  if (sorted.length < 3) return sorted;
  const cross = (o: number[], a: number[], b: number[]) => (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]);
  const chain = (list: [number, number][]) => {
    const hull: [number, number][] = [];
    for (const p of list) {
      while (hull.length >= 2 && cross(hull[hull.length - 2], hull[hull.length - 1], p) <= 0) hull.pop();
      hull.push(p);
    }
    hull.pop();
    return hull;
  };
  return chain(sorted).concat(chain(sorted.reverse()));
}

// Two unit vectors across a unit vector.
export function across(n: ArrayLike<number>): [number[], number[]] {
  const a = Math.abs(n[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0];
  const u = [a[1] * n[2] - a[2] * n[1], a[2] * n[0] - a[0] * n[2], a[0] * n[1] - a[1] * n[0]];
  const s = 1 / Math.hypot(u[0], u[1], u[2]);
  for (let k = 0; k < 3; ++k) u[k] *= s;
  return [u, [n[1] * u[2] - n[2] * u[1], n[2] * u[0] - n[0] * u[2], n[0] * u[1] - n[1] * u[0]]];
}

// Full side lengths of the box with the same mass and principal moments.
export function inertiaBox(mass: number, ix: number, iy: number, iz: number): [number, number, number] {
  const side = (a: number, b: number, c: number) => Math.sqrt(Math.max((6 * (b + c - a)) / mass, 0));
  return [side(ix, iy, iz), side(iy, iz, ix), side(iz, ix, iy)];
}

// Round numbers between two others, about as many as wanted: 1, 2 or 5 times a power of ten apart.
export function ticks(low: number, high: number, wanted: number): number[] {
  const rough = (high - low) / Math.max(wanted, 1);
  if (!(rough > 0) || !isFinite(rough)) return [];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * (rough / power > 5 ? 10 : rough / power > 2 ? 5 : rough / power > 1 ? 2 : 1);
  const found: number[] = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; ++i) found.push(i === 0 ? 0 : i * step);
  return found;
}

export function quantile(values: number[], share: number): number {
  if (values.length === 0) return 0;
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
}

// "1.2 kN", "340 µm": three digits and a prefix.
export function withUnit(value: number, unit: string): string {
  const a = Math.abs(value);
  if (!isFinite(value)) return '–';
  if (a < 1e-9) return `0 ${unit}`;
  const steps: [number, string][] = [[1e9, 'G'], [1e6, 'M'], [1e3, 'k'], [1, ''], [1e-3, 'm'], [1e-6, 'µ'], [1e-9, 'n']];
  const [scale, prefix] = steps.find(([s]) => a >= 0.9995 * s) ?? [1e-9, 'n'];
  return `${Number((value / scale).toPrecision(3))} ${prefix}${unit}`;
}

export function mass(kilograms: number): string {
  return kilograms >= 1000 ? `${Number((kilograms / 1000).toPrecision(3))} t` : withUnit(1000 * kilograms, 'g');
}
