/** The steps of an automation from top to bottom, with the numbers of contacts at each step and between the steps. */
import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from './icon.tsx';

export interface FlowStep {
  /** A text that is unique among the steps of the flow. */
  key: string;
  icon: IconName;
  /** The kind of the step in a word, such as “Mail”. */
  kind: string;
  /** What the step does. */
  title: ComponentChildren;
  /** How long contacts wait before the step. */
  wait?: ComponentChildren;
  /** The contacts who are at the step now. */
  active?: ComponentChildren;
  /** Further content below the title. */
  content?: ComponentChildren;
  /** How many contacts have passed the step, as a number and as a text. */
  passed?: { count: number; text: string };
  /** The branches after a step that decides, shown indented below the step. */
  branches?: readonly FlowBranch[];
}

/** A branch after a step that decides. */
export interface FlowBranch {
  /** Says when contacts take the branch. */
  label: string;
  steps: readonly FlowStep[];
}

/**
 * A list of steps in their order. `label` is the name of the list for screen readers. `entered` is the number of contacts who entered
 * the automation; the bars between the steps show shares of it. If it is 0, no bars are shown.
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
