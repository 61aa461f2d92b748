/** Finds the places of a source file where a small fault can be made, in code and in SQL. */
import ts from 'typescript';

/** A fault: the characters of the file from `start` to `end` become `text`. */
export interface Change {
  start: number;
  end: number;
  text: string;
}

/** A place with the faults that it can have. */
export interface Place {
  /** Identifies the place. The same place of another tree has the same key. */
  key: string;
  changes: Changes;
}

type Changes = readonly [Change, ...Change[]];

/** The operators that can replace an operator. */
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
/** The method that can replace a method. */
const METHODS = new Map([
  ['min', 'max'],
  ['max', 'min'],
  ['ceil', 'floor'],
  ['floor', 'ceil'],
  ['some', 'every'],
  ['every', 'some'],
]);
/** Methods whose result is of the same type as the value that they are called on, so that the call can be removed. */
const REMOVABLE_METHODS = new Set([
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
/** A string that code compares, such as a state. Other strings are texts for people. */
const NAME = /^[a-z]+(_[a-z]+)*$/;

const SQL = /\b(SELECT|INSERT|DELETE FROM|SET|WHERE|EXISTS|CASE|AND|OR|JOIN|IS NULL|IS NOT NULL)\b/;
/** Patterns of SQL, each with a function that returns the texts that can replace a match. */
const SQL_CHANGES: readonly [pattern: string, replacementsOf: (text: string) => readonly string[]][] = [
  ['(?<= )(?:<=|>=|<>|=|<|>)(?= )', (text) => ({ '=': ['<>'], '<>': ['='] })[text] ?? OPERATORS[text] ?? []],
  ['\\bIS NOT NULL\\b', () => ['IS NULL']],
  ['\\bIS NULL\\b', () => ['IS NOT NULL']],
  ['\\bNOT (?=EXISTS|IN\\b)', () => ['']],
  ['\\bAND\\b', () => ['OR']],
  ['(?<!INSERT |UPDATE )\\bOR\\b', () => ['AND']],
  ["'\\w+'", () => ["'-'"]],
  ['\\b(?:min|max)(?=\\()', (text) => [METHODS.get(text) ?? text]],
  ['(?<=\\w |\\) )[+-](?= )', (text) => OPERATORS[text] ?? []],
  ['(?<![\\w?.:])\\d+\\b(?! (?:PRECEDING|FOLLOWING))', (text) => [String(Number(text) + 1)]],
  ['\\bASC\\b', () => ['DESC']],
  ['\\bDESC\\b', () => ['ASC']],
];
const SQL_PATTERN = new RegExp(SQL_CHANGES.map(([pattern]) => `(${pattern})`).join('|'), 'g');
/** Clauses in which a `=` assigns instead of comparing. */
const ASSIGNMENT_CLAUSE = /\b(SET|VALUES|END)\b/;
const CLAUSE = /\b(SET|VALUES|END|WHERE|ON|WHEN|HAVING|SELECT|AND|OR|iif)\b/g;

/** Returns the places of a source file. Types, comments, log lines, texts for people and imports have no places. */
export function placesOf(file: string, code: string): Place[] {
  const source = ts.createSourceFile(file, code, ts.ScriptTarget.Latest, true, scriptKind(file));
  const places: Place[] = [];
  /** How often a key has occurred without its last part, which tells equal statements of a file apart. */
  const occurrences = new Map<string, number>();
  const visit = (node: ts.Node, outerStatement: ts.Node) => {
    if (isExcluded(node)) return;
    const isOwnStatement = !ts.isBlock(node) && (ts.isStatement(node) || ts.isClassElement(node));
    const statement = isOwnStatement ? node : outerStatement;
    for (const changes of changesAt(node)) {
      const [{ start, end }] = changes;
      const offset = start - statement.getStart();
      const name = [file, statement.getText(), offset, end - start].join('\n');
      const nth = occurrences.get(name) ?? 0;
      occurrences.set(name, nth + 1);
      places.push({ key: `${name}\n${nth}`, changes });
    }
    ts.forEachChild(node, (child) => visit(child, statement));
  };
  visit(source, source);
  return places;
}

function scriptKind(file: string): ts.ScriptKind {
  return file.endsWith('.tsx') ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
}

function isExcluded(node: ts.Node): boolean {
  return (
    ts.isTypeNode(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isImportDeclaration(node) ||
    ts.isExportDeclaration(node) ||
    (ts.isCallExpression(node) && LOG.test(node.expression.getText()))
  );
}

/** The changes of a node itself, without those of its children. Each element belongs to one place. */
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

/** The changes that replace a whole node by one of these texts. */
function changesOf(node: ts.Node, texts: readonly string[]): Changes[] {
  const [first, ...others] = texts.map((text) => ({ start: node.getStart(), end: node.getEnd(), text }));
  return first === undefined ? [] : [[first, ...others]];
}

/** Other values that a constant can have; none if the node is no constant. */
function constantsFor(node: ts.Node): string[] {
  if (node.kind === ts.SyntaxKind.TrueKeyword) return ['false'];
  if (node.kind === ts.SyntaxKind.FalseKeyword) return ['true'];
  if (ts.isNumericLiteral(node)) return isPropertyName(node) ? [] : [otherNumber(node)];
  return ts.isStringLiteral(node) && NAME.test(node.text) && isValue(node) ? ["'-'"] : [];
}

function isPropertyName(node: ts.Node): boolean {
  return ts.isPropertyAssignment(node.parent) && node.parent.name === node;
}

/** True if the code uses the string as a value, and not, for example, as an argument, which could be a text for people. */
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

/** Returns another number. Large numbers, such as durations, are doubled, because no test can notice a change by one. */
function otherNumber(node: ts.NumericLiteral): string {
  const number = Number(node.text.replaceAll('_', ''));
  return String(number < 1000 ? number + 1 : number * 2);
}

function changesOfOperator(node: ts.BinaryExpression): Changes[] {
  const operator = node.operatorToken;
  if (operator.kind === ts.SyntaxKind.QuestionQuestionToken) {
    const removal = { start: node.left.getEnd(), end: node.getEnd(), text: '' };
    return [[removal]];
  }
  const joinsText = operator.getText().startsWith('+') && (isText(node.left) || isText(node.right));
  return joinsText ? [] : changesOf(operator, OPERATORS[operator.getText()] ?? []);
}

function isText(node: ts.Expression): boolean {
  if (ts.isBinaryExpression(node)) return isText(node.left) || isText(node.right);
  return ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);
}

/** True if a statement of this expression has an effect, so that removing it is a fault. Code without its `super()` would not run at all. */
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

/** A returned value becomes undefined, or another value of the function's type. Returned constants have changes of their own. */
function changesOfReturn(node: ts.ReturnStatement): Changes[] {
  const { expression } = node;
  if (expression === undefined) return changesOf(node, [';']);
  const returned = expression.getText();
  if (/^(true|false|null|undefined|\[\]|'\w*'|\d+)$/.test(returned)) return [];
  const type = ts.findAncestor(node, ts.isFunctionLike)?.type?.getText();
  if (type === 'boolean') return changesOf(expression, [`!(${returned})`]);
  if (type === 'number') return changesOf(expression, [`(${returned}) + 1`]);
  if (type === 'string') return changesOf(expression, ["''"]);
  return changesOf(expression, [type?.endsWith('[]') === true ? '[]' : 'undefined']);
}

function changesOfCall(node: ts.CallExpression): Changes[] {
  const called = node.expression;
  if (!ts.isPropertyAccessExpression(called)) return [];
  const name = called.name.text;
  if (REMOVABLE_METHODS.has(name)) {
    const removal = { start: called.expression.getEnd(), end: node.getEnd(), text: '' };
    return [[removal]];
  }
  const other = METHODS.get(name);
  return other === undefined ? [] : changesOf(called.name, [other]);
}

/** True if the property is a column that `.set()` writes to the database. */
function isWritten({ parent }: ts.PropertyAssignment): boolean {
  const call = parent.parent;
  return ts.isCallExpression(call) && /\.set$/.test(call.expression.getText());
}

function changesOfSql(node: ts.StringLiteral | ts.NoSubstitutionTemplateLiteral | ts.TemplateExpression): Changes[] {
  const pieces = ts.isTemplateExpression(node)
    ? [node.head, ...node.templateSpans.map(({ literal }) => literal)]
    : [node];
  const sql = node.getText();
  return pieces.flatMap((piece) =>
    [...piece.getText().matchAll(SQL_PATTERN)].flatMap((match): Changes[] => {
      const [matched, ...groups] = match;
      const start = piece.getStart() + match.index;
      const end = start + matched.length;
      const before = sql.slice(0, start - node.getStart());
      const clause = before.match(CLAUSE)?.at(-1) ?? '';
      if (matched === '=' && ASSIGNMENT_CLAUSE.test(clause)) return [];
      // The AND of BETWEEN joins no conditions.
      if (matched === 'AND' && /BETWEEN [^\n]{0,40}$/.test(before)) return [];
      const replacementsOf = SQL_CHANGES[groups.findIndex((group) => group !== undefined)]?.[1];
      const [first, ...others] = (replacementsOf?.(matched) ?? []).map((text) => ({ start, end, text }));
      return first === undefined ? [] : [[first, ...others]];
    }),
  );
}
