/**
 * The paths of an automation. A deciding step has two paths, yes and no. Its steps follow it in the order: first the steps of its
 * path yes, then those of its path no, then the next step of the path of the deciding step itself.
 */
import { type AWAITED, BRANCHES, type STEP_KINDS } from '../database/schema/index.ts';

/** The properties of a step that its paths depend on. */
interface StepKind {
  kind: (typeof STEP_KINDS)[number];
  /** What contacts wait for at a step of kind `wait_until`; null for other kinds. */
  until: (typeof AWAITED)[number] | null;
}

/** A step with its place on the paths. */
interface PlacedStep extends StepKind {
  id: number;
  utr: string;
  /** The id of the deciding step on whose path the step is; null on the main path. */
  parent_id: number | null;
  /** The path of the deciding step; null on the main path. */
  branch: (typeof BRANCHES)[number] | null;
}

/**
 * The place of a new step in a request: before another step and on its path, or at the end of a path of a deciding step, or (if nothing is
 * set) at the end of the main path.
 */
export interface GivenPlace {
  /** utr of the step before which the new step comes. */
  before?: string | undefined;
  /** utr of the deciding step. */
  parent?: string | undefined;
  /** The path of the deciding step. */
  branch?: (typeof BRANCHES)[number] | undefined;
}

/**
 * Returns true if contacts take one of two paths at a step of this kind. A wait for an hour or a weekday has only one path,
 * because the hour or weekday always comes.
 */
export function isDeciding({ kind, until }: StepKind): boolean {
  return kind === 'if' || kind === 'split' || (kind === 'wait_until' && (until === 'event' || until === 'date'));
}

/** Returns the index at which a new step is to be inserted, and its path; null if there is no such place. `steps` are in their order. */
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

/** Returns the steps in reading order: each deciding step, then the steps on its paths. Steps of the same path keep their order. */
export function inReadingOrder<
  Id extends number | string,
  Step extends { id: Id; parent_id: Id | null; branch: PlacedStep['branch'] },
>(steps: readonly Step[]): Step[] {
  const paths = Map.groupBy(steps, ({ parent_id, branch }) => `${parent_id} ${branch}`);
  const walk = (parent: Id | null, branch: PlacedStep['branch']): Step[] =>
    (paths.get(`${parent} ${branch}`) ?? []).flatMap((step) => [
      step,
      ...BRANCHES.flatMap((pathOfStep) => walk(step.id, pathOfStep)),
    ]);
  return walk(null, null);
}

/**
 * Returns the next step for contacts who take the step `id` with this outcome; null if no step follows. `steps` are in their order.
 */
export function stepAfter<Step extends Pick<PlacedStep, 'id' | 'parent_id' | 'branch'>>(
  steps: readonly Step[],
  id: number,
  outcome: string,
): Step | null {
  const at = steps.findIndex((step) => step.id === id);
  // The path that the contacts have taken at each deciding step on the way, and at the step itself.
  const taken = new Map<number, string | null>([[id, outcome]]);
  for (const { step, branch } of pathsTo(steps, id)) taken.set(step.id, branch);
  return (
    steps.slice(at + 1).find(({ parent_id: parent, branch }) => parent === null || taken.get(parent) === branch) ?? null
  );
}

/** Returns the deciding steps on the way to the step `id`, each with the path that leads to the step. */
export function pathsTo<Step extends Pick<PlacedStep, 'id' | 'parent_id' | 'branch'>>(
  steps: readonly Step[],
  id: number,
): { step: Step; branch: PlacedStep['branch'] }[] {
  const paths: { step: Step; branch: PlacedStep['branch'] }[] = [];
  for (let step = steps.find((candidate) => candidate.id === id); step !== undefined; ) {
    const { parent_id, branch } = step;
    step = steps.find((candidate) => candidate.id === parent_id);
    if (step !== undefined) paths.push({ step, branch });
  }
  return paths;
}

/** Returns true if the step `to` (a utr) is or may become the next step of a contact whose next step is `from`. `steps` are in their order. */
export function mayReach(
  steps: readonly Pick<PlacedStep, 'id' | 'utr' | 'parent_id' | 'branch'>[],
  from: string,
  to: string,
): boolean {
  const placeOf = (utr: string) => steps.findIndex((step) => step.utr === utr);
  const pathsOf = (utr: string) => pathsTo(steps, steps[placeOf(utr)]?.id ?? 0);
  const wanted = new Map(pathsOf(to).map(({ step, branch }) => [step.id, branch]));
  const isOnOtherPath = pathsOf(from).some(({ step, branch }) => (wanted.get(step.id) ?? branch) !== branch);
  return placeOf(from) <= placeOf(to) && !isOnOtherPath;
}
