/** Finds the places of a source where a small fault can be made, in its code and in its SQL. */
import ts from 'typescript';

/** A fault: the characters of the file from `start` to `end` become `text`. */
export interface Change {
  start: number;
  end: number;
  text: string;
}

/** A place with the faults it can have. The same place of another tree has the same `key`. */
export interface Place {
  key: string;
  changes: Changes;
}

type Changes = readonly [Change, ...Change[]];

/** What an operator can be taken for. */
const OPERATORS: Readonly<Record<string, readonly string[]>> = {
  '===': ['!=='],
  '!==': ['==='],
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '&&': ['||'],
  '||': ['&&'],
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
  '%': ['*'],
  '+=': ['-='],
  '-=': ['+='],
};
/** What a method can be taken for. */
const METHODS = new Map([
  ['min', 'max'],
  ['max', 'min'],
  ['ceil', 'floor'],
  ['floor', 'ceil'],
  ['some', 'every'],
  ['every', 'some'],
]);
/** Methods that change what they are called on: the call can be left out. */
const LEFT_OUT = new Set([
  'filter',
  'reverse',
  'slice',
  'sort',
  'toLowerCase',
  'toReversed',
  'toSorted',
  'toUpperCase',
  'trim',
]);
const LOG = /(^|[.#])(log|logger|console)\b/;
/** A constant that code compares, such as a state. Other strings are for people. */
const NAME = /^[a-z]+(_[a-z]+)*$/;

const SQL = /\b(SELECT|INSERT|DELETE FROM|SET|WHERE|EXISTS|CASE|AND|OR|JOIN|IS NULL|IS NOT NULL)\b/;
/** What can be changed in SQL. A `=` is one only where it compares. */
const SQL_CHANGES: readonly [pattern: string, change: (found: string) => readonly string[]][] = [
  ['(?<= )(?:<=|>=|<>|=|<|>)(?= )', (found) => ({ '=': ['<>'], '<>': ['='] })[found] ?? OPERATORS[found] ?? []],
  ['\\bIS NOT NULL\\b', () => ['IS NULL']],
  ['\\bIS NULL\\b', () => ['IS NOT NULL']],
  ['\\bNOT (?=EXISTS|IN\\b)', () => ['']],
  ['\\bAND\\b', () => ['OR']],
  ['(?<!INSERT |UPDATE )\\bOR\\b', () => ['AND']],
  ["'\\w+'", () => ["'-'"]],
  ['\\b(?:min|max)(?=\\()', (found) => [METHODS.get(found) ?? found]],
  ['(?<=\\w |\\) )[+-](?= )', (found) => OPERATORS[found] ?? []],
  ['(?<![\\w?.:])\\d+\\b(?! (?:PRECEDING|FOLLOWING))', (found) => [String(Number(found) + 1)]],
  ['\\bASC\\b', () => ['DESC']],
  ['\\bDESC\\b', () => ['ASC']],
];
const SQL_PATTERN = new RegExp(SQL_CHANGES.map(([pattern]) => `(${pattern})`).join('|'), 'g');
/** Where a `=` assigns. */
const ASSIGNS = /\b(SET|VALUES|END)\b/;
const CLAUSE = /\b(SET|VALUES|END|WHERE|ON|WHEN|HAVING|SELECT|AND|OR|iif)\b/g;

/** The places of a source. Types, comments, log lines, texts for people and what the file imports have none. */
export function placesOf(file: string, code: string): Place[] {
  const source = ts.createSourceFile(file, code, ts.ScriptTarget.Latest, true, scriptKind(file));
  const places: Place[] = [];
  const seen = new Map<string, number>();
  const visit = (node: ts.Node, statement: ts.Node) => {
    if (isLeftAlone(node)) return;
    const around = ts.isBlock(node) || !(ts.isStatement(node) || ts.isClassElement(node)) ? statement : node;
    for (const changes of changesAt(node)) {
      const [{ start, end }] = changes;
      const inside = start - around.getStart();
      const name = [file, around.getText(), inside, end - start].join('\n');
      const nth = seen.get(name) ?? 0;
      seen.set(name, nth + 1);
      places.push({ key: `${name}\n${nth}`, changes });
    }
    ts.forEachChild(node, (child) => visit(child, around));
  };
  visit(source, source);
  return places;
}

function scriptKind(file: string): ts.ScriptKind {
  return file.endsWith('.tsx') ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
}

function isLeftAlone(node: ts.Node): boolean {
  return (
    ts.isTypeNode(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isImportDeclaration(node) ||
    ts.isExportDeclaration(node) ||
    (ts.isCallExpression(node) && LOG.test(node.expression.getText()))
  );
}

/** The changes at a node itself; those of its children are apart. Each place is one element. */
function changesAt(node: ts.Node): Changes[] {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node) || ts.isTemplateExpression(node))
    return SQL.test(node.getText()) ? changesOfSql(node) : changesOf(node, constantsFor(node));
  if (ts.isBinaryExpression(node)) return changesOfOperator(node);
  if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken)
    return changesOf(node, [node.operand.getText()]);
  if (ts.isIfStatement(node) || ts.isWhileStatement(node) || ts.isDoStatement(node))
    return changesOf(node.expression, [`!(${node.expression.getText()})`]);
  if (ts.isConditionalExpression(node)) return changesOf(node.condition, [`!(${node.condition.getText()})`]);
  if (ts.isExpressionStatement(node)) return changesOf(node, isEffect(node.expression) ? [';'] : []);
  if (ts.isContinueStatement(node) || ts.isBreakStatement(node) || ts.isThrowStatement(node))
    return changesOf(node, [';']);
  if (ts.isReturnStatement(node)) return changesOfReturn(node);
  if (ts.isCallExpression(node)) return changesOfCall(node);
  if (ts.isPropertyAssignment(node) && isWritten(node)) return changesOf(node, ['']);
  return changesOf(node, constantsFor(node));
}

function changesOf(node: ts.Node, texts: readonly string[]): Changes[] {
  const [first, ...others] = texts.map((text) => ({ start: node.getStart(), end: node.getEnd(), text }));
  return first === undefined ? [] : [[first, ...others]];
}

/** Another value of a constant, where the node is one. */
function constantsFor(node: ts.Node): string[] {
  if (node.kind === ts.SyntaxKind.TrueKeyword) return ['false'];
  if (node.kind === ts.SyntaxKind.FalseKeyword) return ['true'];
  if (ts.isNumericLiteral(node)) return isPropertyName(node) ? [] : [otherNumber(node)];
  return ts.isStringLiteral(node) && NAME.test(node.text) && isValue(node) ? ["'-'"] : [];
}

function isPropertyName(node: ts.Node): boolean {
  return ts.isPropertyAssignment(node.parent) && node.parent.name === node;
}

function isValue(node: ts.Node): boolean {
  const { parent } = node;
  return (
    ts.isBinaryExpression(parent) ||
    ts.isCaseClause(parent) ||
    ts.isArrayLiteralExpression(parent) ||
    ts.isReturnStatement(parent) ||
    ts.isConditionalExpression(parent) ||
    (ts.isPropertyAssignment(parent) && parent.initializer === node)
  );
}

/** A change by one is noticed at a limit, but not at a duration. */
function otherNumber(node: ts.NumericLiteral): string {
  const number = Number(node.text.replaceAll('_', ''));
  return String(number < 1000 ? number + 1 : number * 2);
}

function changesOfOperator(node: ts.BinaryExpression): Changes[] {
  const operator = node.operatorToken;
  if (operator.kind === ts.SyntaxKind.QuestionQuestionToken) {
    const left = { start: node.left.getEnd(), end: node.getEnd(), text: '' };
    return [[left]];
  }
  const joinsText = operator.getText().startsWith('+') && (isText(node.left) || isText(node.right));
  return joinsText ? [] : changesOf(operator, OPERATORS[operator.getText()] ?? []);
}

function isText(node: ts.Expression): boolean {
  if (ts.isBinaryExpression(node)) return isText(node.left) || isText(node.right);
  return ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);
}

/** Whether an expression is there for what it does. `super()` cannot be left out. */
function isEffect(node: ts.Expression): boolean {
  if (ts.isAwaitExpression(node)) return isEffect(node.expression);
  if (ts.isCallExpression(node))
    return node.expression.kind !== ts.SyntaxKind.SuperKeyword && !LOG.test(node.expression.getText());
  return (
    ts.isBinaryExpression(node) ||
    ts.isPrefixUnaryExpression(node) ||
    ts.isPostfixUnaryExpression(node) ||
    ts.isDeleteExpression(node)
  );
}

/** What is returned becomes undefined, or another value of the function's type. Constants are places of their own. */
function changesOfReturn(node: ts.ReturnStatement): Changes[] {
  const { expression } = node;
  if (expression === undefined) return changesOf(node, [';']);
  const given = expression.getText();
  if (/^(true|false|null|undefined|\[\]|'\w*'|\d+)$/.test(given)) return [];
  const type = ts.findAncestor(node, ts.isFunctionLike)?.type?.getText();
  if (type === 'boolean') return changesOf(expression, [`!(${given})`]);
  if (type === 'number') return changesOf(expression, [`(${given}) + 1`]);
  if (type === 'string') return changesOf(expression, ["''"]);
  return changesOf(expression, [type?.endsWith('[]') === true ? '[]' : 'undefined']);
}

function changesOfCall(node: ts.CallExpression): Changes[] {
  const called = node.expression;
  if (!ts.isPropertyAccessExpression(called)) return [];
  const name = called.name.text;
  if (LEFT_OUT.has(name)) {
    const left = { start: called.expression.getEnd(), end: node.getEnd(), text: '' };
    return [[left]];
  }
  const other = METHODS.get(name);
  return other === undefined ? [] : changesOf(called.name, [other]);
}

/** Whether a property is one that is written to the database. */
function isWritten({ parent }: ts.PropertyAssignment): boolean {
  const call = parent.parent;
  return ts.isCallExpression(call) && /\.set$/.test(call.expression.getText());
}

function changesOfSql(node: ts.StringLiteral | ts.NoSubstitutionTemplateLiteral | ts.TemplateExpression): Changes[] {
  const pieces = ts.isTemplateExpression(node)
    ? [node.head, ...node.templateSpans.map(({ literal }) => literal)]
    : [node];
  const whole = node.getText();
  return pieces.flatMap((piece) =>
    [...piece.getText().matchAll(SQL_PATTERN)].flatMap((found): Changes[] => {
      const [text, ...groups] = found;
      const start = piece.getStart() + found.index;
      const before = whole.slice(0, start - node.getStart());
      const clause = before.match(CLAUSE)?.at(-1) ?? '';
      if (text === '=' && ASSIGNS.test(clause)) return [];
      // The AND of BETWEEN joins nothing.
      if (text === 'AND' && /BETWEEN [^\n]{0,40}$/.test(before)) return [];
      const change = SQL_CHANGES[groups.findIndex((group) => group !== undefined)]?.[1];
      const [first, ...others] = (change?.(text) ?? []).map((to) => ({ start, end: start + text.length, text: to }));
      return first === undefined ? [] : [[first, ...others]];
    }),
  );
}
