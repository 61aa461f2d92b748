/**
 * The order of an automation's steps: the steps of the main path, and after each deciding step the steps of its path
 * yes, then of its path no.
 */
import { type AWAITED, BRANCHES, type STEP_KINDS } from '../database/schema/index.ts';

/** The properties of a step that its paths depend on. */
interface StepKind {
  kind: (typeof STEP_KINDS)[number];
  /** What a wait is for. */
  until: (typeof AWAITED)[number] | null;
}

/** A step with its place on the paths, as `ListedSchedule` has it. */
interface PlacedStep extends StepKind {
  id: number;
  utr: string;
  parent_id: number | null;
  branch: (typeof BRANCHES)[number] | null;
}

/** Where a new step goes: before another one, on its path, or at the end of a path; of the main path by default. */
export interface GivenPlace {
  /** utr of the step before which it comes. */
  before?: string | undefined;
  /** utr of the deciding step. */
  parent?: string | undefined;
  /** The path of the deciding step. */
  branch?: (typeof BRANCHES)[number] | undefined;
}

/**
 * Returns true if contacts take one of two paths at such a step. A wait for an hour or a weekday has one path only,
 * because both always come.
 */
export function isDeciding({ kind, until }: StepKind): boolean {
  return kind === 'if' || kind === 'split' || (kind === 'wait_until' && (until === 'event' || until === 'date'));
}

/** Returns the index of a new step and the path it is on; null if there is no such place. `steps`: in their order. */
export function findPlace(
  steps: readonly PlacedStep[],
  { before, parent, branch }: GivenPlace,
): (Pick<PlacedStep, 'parent_id' | 'branch'> & { at: number }) | null {
  if (before) {
    const at = steps.findIndex(({ utr }) => utr === before.toLowerCase());
    const next = steps[at];
    return next === undefined ? null : { at, parent_id: next.parent_id, branch: next.branch };
  }
  if (!parent) return { at: steps.length, parent_id: null, branch: null };
  const deciding = steps.find(({ utr }) => utr === parent.toLowerCase());
  if (deciding === undefined || !isDeciding(deciding) || branch === undefined) return null;
  const order = inReadingOrder([
    ...steps,
    { id: 0, utr: '', kind: 'mail', until: null, parent_id: deciding.id, branch },
  ]);
  return { at: order.findIndex(({ id }) => id === 0), parent_id: deciding.id, branch };
}

/** Returns the steps in the order in which they are read. Steps of the same path keep their order. */
export function inReadingOrder<
  Id extends number | string,
  Step extends { id: Id; parent_id: Id | null; branch: PlacedStep['branch'] },
>(steps: readonly Step[]): Step[] {
  const paths = Map.groupBy(steps, ({ parent_id, branch }) => `${parent_id} ${branch}`);
  const walk = (parent: Id | null, branch: PlacedStep['branch']): Step[] =>
    (paths.get(`${parent} ${branch}`) ?? []).flatMap((step) => [
      step,
      ...BRANCHES.flatMap((one) => walk(step.id, one)),
    ]);
  return walk(null, null);
}

/**
 * Returns the next step after step `id` for contacts who take that step with this outcome; null after the last step.
 * These contacts have also taken every path that step `id` is on. `steps` are in their order.
 */
export function stepAfter<Step extends Pick<PlacedStep, 'id' | 'parent_id' | 'branch'>>(
  steps: readonly Step[],
  id: number,
  outcome: string,
): Step | null {
  const at = steps.findIndex((step) => step.id === id);
  const taken = new Map<number, string | null>([[id, outcome]]);
  for (const { step, branch } of pathsTo(steps, id)) taken.set(step.id, branch);
  return (
    steps.slice(at + 1).find(({ parent_id: parent, branch }) => parent === null || taken.get(parent) === branch) ?? null
  );
}

/** Returns the deciding steps on the way to the step `id`, each with the path of it that leads there. */
export function pathsTo<Step extends Pick<PlacedStep, 'id' | 'parent_id' | 'branch'>>(
  steps: readonly Step[],
  id: number,
): { step: Step; branch: PlacedStep['branch'] }[] {
  const paths: { step: Step; branch: PlacedStep['branch'] }[] = [];
  for (let on = steps.find((step) => step.id === id); on !== undefined && on.parent_id !== null; ) {
    const { parent_id: parent, branch } = on;
    on = steps.find((step) => step.id === parent);
    if (on !== undefined) paths.push({ step: on, branch });
  }
  return paths;
}

/** Returns true if a contact who waits for the step `from` may come to the step `to`, or waits for it. `steps`: in their order. */
export function mayReach(
  steps: readonly Pick<PlacedStep, 'id' | 'utr' | 'parent_id' | 'branch'>[],
  from: string,
  to: string,
): boolean {
  const placeOf = (utr: string) => steps.findIndex((step) => step.utr === utr);
  const pathsOf = (utr: string) => pathsTo(steps, steps[placeOf(utr)]?.id ?? 0);
  const wanted = new Map(pathsOf(to).map(({ step, branch }) => [step.id, branch]));
  const isOnOther = pathsOf(from).some(({ step, branch }) => (wanted.get(step.id) ?? branch) !== branch);
  return placeOf(from) <= placeOf(to) && !isOnOther;
}
