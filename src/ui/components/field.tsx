/** Form fields with a label, a hint and their problems. */
import type { ComponentChildren, InputHTMLAttributes, TextareaHTMLAttributes } from 'preact';

/** The field errors of an operation, by the name of the field. */
export type Problems = Readonly<Record<string, readonly string[]>>;

interface FieldProps {
  name: string;
  label: string;
  hint?: ComponentChildren;
  problems?: Problems | undefined;
}

/** The name of the control that has the focus when a page opens, by the problems of the page. */
const focused = new WeakMap<Problems, string>();

/**
 * Returns the problem of a control, and the attributes that connect the control with its hint and its problem. Only the first control
 * with a problem gets the attribute `autofocus`, because HTML allows this attribute only once on a page.
 */
function describedBy({ name, hint, problems }: FieldProps) {
  const problem = problems?.[name]?.join(' ');
  if (problems !== undefined && problem !== undefined && !focused.has(problems)) focused.set(problems, name);
  const ids = [hint !== undefined && `${name}-hint`, problem !== undefined && `${name}-problem`].filter(Boolean);
  return {
    problem,
    attributes: {
      id: name,
      name,
      ...(ids.length > 0 && { 'aria-describedby': ids.join(' ') }),
      ...(problem !== undefined && { 'aria-invalid': true }),
      ...(problems !== undefined && focused.get(problems) === name && { autofocus: true }),
    },
  };
}

function FieldFrame({
  children,
  problem,
  ...field
}: FieldProps & { problem: string | undefined; children: ComponentChildren }) {
  return (
    <div class="field">
      <label for={field.name}>{field.label}</label>
      {children}
      {field.hint !== undefined && (
        <span class="hint" id={`${field.name}-hint`}>
          {field.hint}
        </span>
      )}
      {problem !== undefined && (
        <span class="problem" id={`${field.name}-problem`}>
          {problem}
        </span>
      )}
    </div>
  );
}

/** A field with one line. */
export function TextField({ name, label, hint, problems, ...input }: FieldProps & InputHTMLAttributes) {
  const field = { name, label, hint, problems };
  const { problem, attributes } = describedBy(field);
  return (
    <FieldFrame {...field} problem={problem}>
      <input type="text" {...input} {...attributes} />
    </FieldFrame>
  );
}

/** A field with several lines. */
export function AreaField({ name, label, hint, problems, value, ...area }: FieldProps & TextareaHTMLAttributes) {
  const field = { name, label, hint, problems };
  const { problem, attributes } = describedBy(field);
  return (
    <FieldFrame {...field} problem={problem}>
      <textarea {...area} {...attributes}>
        {value}
      </textarea>
    </FieldFrame>
  );
}

interface Option {
  value: string;
  label: string;
  /** The heading above the options of a group; absent or empty for an option without a heading. */
  group?: string;
}

/** A choice of one option. If the choice is required, the browser does not accept an option with an empty value. */
export function SelectField({
  options,
  value,
  required = false,
  ...field
}: FieldProps & { options: readonly Option[]; value?: string; required?: boolean }) {
  const { problem, attributes } = describedBy(field);
  const groups = new Map<string, Option[]>();
  for (const option of options) groups.set(option.group ?? '', [...(groups.get(option.group ?? '') ?? []), option]);
  return (
    <FieldFrame {...field} problem={problem}>
      <select {...attributes} required={required}>
        {[...groups].map(([group, ofGroup]) => {
          const elements = ofGroup.map((option) => (
            <option key={option.value} value={option.value} selected={option.value === value}>
              {option.label}
            </option>
          ));
          if (group === '') return elements;
          return (
            <optgroup key={group} label={group}>
              {elements}
            </optgroup>
          );
        })}
      </select>
    </FieldFrame>
  );
}

/** A checkbox with its label to the right. */
export function CheckField({
  name,
  label,
  hint,
  checked,
  value = '1',
  required = false,
}: {
  name: string;
  label: string;
  /** Shown below the label. */
  hint?: string;
  checked?: boolean;
  value?: string;
  required?: boolean;
}) {
  return (
    <label class="choice">
      <input type="checkbox" name={name} value={value} checked={checked ?? false} required={required} />
      <span class="named">
        <span>{label}</span>
        {hint !== undefined && <span class="small quiet-text">{hint}</span>}
      </span>
    </label>
  );
}

/** The field for one file, which the user chooses or drops. `problem` says why the previous file was refused. */
export function FileField({
  label,
  hint,
  accept,
  problem,
}: {
  label: string;
  hint: string;
  accept?: string;
  problem?: string | undefined;
}) {
  return (
    <>
      <div class="drop">
        <label for="file">
          <b>{label}</b>
          <span class="quiet-text">{hint}</span>
        </label>
        <input
          type="file"
          id="file"
          name="file"
          accept={accept}
          required
          {...(problem && { 'aria-invalid': true, 'aria-describedby': 'file-problem' })}
        />
      </div>
      {problem && (
        <p class="problem" id="file-problem" role="alert">
          {problem}
        </p>
      )}
    </>
  );
}
