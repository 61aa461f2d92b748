/** The steps of an automation from top to bottom, with the contacts at each, and how many of them went on between two steps. */
import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from './icon.tsx';

/** A step: its kind in a word, such as “Mail”, and what it does. */
export interface FlowStep {
  /** Unique among the steps of the flow. */
  key: string;
  icon: IconName;
  kind: string;
  title: ComponentChildren;
  /** How long contacts wait before it. */
  wait?: ComponentChildren;
  /** The contacts who are at it now. */
  active?: ComponentChildren;
  content?: ComponentChildren;
  /** How many contacts came past it, and the same in words. */
  passed?: { count: number; text: string };
  /** The ways on from a step that decides, each indented below it. */
  branches?: readonly FlowBranch[];
}

/** A way on from a step: when contacts take it, and its steps. */
export interface FlowBranch {
  label: string;
  steps: readonly FlowStep[];
}

/**
 * A list of steps in their order. `label` is its name for screen readers. `entered` is how many contacts entered, of which the
 * bars between the steps show shares; without it there are no bars.
 */
export function Flow({ label, steps, entered = 0 }: { label: string; steps: readonly FlowStep[]; entered?: number }) {
  return (
    <ol class="flow" aria-label={label}>
      {steps.map((step) => (
        <Step key={step.key} step={step} entered={entered} />
      ))}
    </ol>
  );
}

function Step({ step, entered }: { step: FlowStep; entered: number }) {
  const { icon, kind, title, wait, active, content, passed, branches = [] } = step;
  return (
    <li>
      {wait && (
        <p class="flow-wait">
          <Icon name="clock" />
          {wait}
        </p>
      )}
      <div class="flow-card">
        <p class="flow-kind">
          <Icon name={icon} />
          {kind}
          {active && <span class="flow-active">{active}</span>}
        </p>
        <h3>{title}</h3>
        {content}
      </div>
      {branches.length > 0 && (
        <div class="flow-branches">
          {branches.map((branch) => (
            <section key={branch.label}>
              <h4>{branch.label}</h4>
              <Flow label={branch.label} steps={branch.steps} entered={entered} />
            </section>
          ))}
        </div>
      )}
      {passed && (
        <p class="flow-passed">
          {entered > 0 && (
            <svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
              <rect class="ground" width="100" height="6" />
              <rect class="value" width={(100 * Math.min(passed.count, entered)) / entered} height="6" />
            </svg>
          )}
          {passed.text}
        </p>
      )}
    </li>
  );
}
