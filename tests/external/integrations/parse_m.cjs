// Parses the files that are named and prints each file's text literals, unescaped. Fails where one is not M.
const fs = require("fs");
const { DefaultSettings, Language, TaskUtils } = require("@microsoft/powerquery-parser");

// As the language's grammar has it; the parser's own function knows no numbers.
function unescape(literal) {
    const named = { cr: "\r", lf: "\n", tab: "\t", "#": "#" };
    const one = (name) => named[name] ?? String.fromCodePoint(parseInt(name, 16));
    return literal.replace(/""|#\(([^)]*)\)/g, (found, names) => (found === '""' ? '"' : names.split(",").map(one).join("")));
}

async function main() {
    const found = {};
    for (const path of process.argv.slice(2)) {
        const task = await TaskUtils.tryLexParse(DefaultSettings, fs.readFileSync(path, "utf8"));
        if (task.error) {
            throw new Error(`${path}: ${task.error.message}`);
        }
        const texts = task.lexerSnapshot.tokens.filter((token) => token.kind === Language.Token.TokenKind.TextLiteral);
        found[path] = texts.map((token) => unescape(token.data.slice(1, -1)));
    }
    console.log(JSON.stringify(found));
}

main().catch((error) => {
    console.error(error);
    process.exit(1);
});
