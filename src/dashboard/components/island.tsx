/** A part of a page that a script takes over. */
import { type ComponentChildren, createContext } from 'preact';
import { useContext } from 'preact/hooks';

const Islands = createContext(new Set<string>());

/** Collects the names of the scripts that the components below it need. */
export const IslandsProvider = Islands.Provider;

/**
 * Marks its children as what the script `name` (a file of `islands/`) takes over, and adds that script to the page. The script gets
 * `data` as JSON from the attribute `data-props`. The children are what is shown without it.
 */
export function Island({ name, data, children }: { name: string; data?: unknown; children?: ComponentChildren }) {
  useContext(Islands).add(name);
  return (
    <div class="island" data-island={name} {...(data !== undefined && { 'data-props': JSON.stringify(data) })}>
      {children}
    </div>
  );
}
