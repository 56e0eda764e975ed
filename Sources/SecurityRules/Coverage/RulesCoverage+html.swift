internal import UTF8Text

extension RulesCoverage {
    /// Returns the coverage report as a page of HTML without scripts and without other files: the rules with the number of
    /// evaluations of each line, and the values of each expression as its tooltip.
    package func html(of ruleset: Ruleset) -> [UInt8] {
        var page = CoveragePage(ruleset.program.source.text, reports(of: ruleset))
        return page.finish()
    }
}

/// A writer of the HTML page of a coverage report.
private struct CoveragePage {
    private let source: [Unicode.Scalar]
    /// The reports of all expressions; a part follows the expression that it is part of.
    private var reports: [RulesCoverage.Report] = []
    /// The index of the innermost report of each scalar; `nil` outside of expressions.
    private var owners: [Int?]
    /// The greatest number of evaluations of the expressions that start on a line; `nil` for a line without one.
    private var lineCounts: [Int: Int] = [:]
    private var bytes: [UInt8] = []

    init(_ text: String, _ roots: [RulesCoverage.Report]) {
        source = Array(text.unicodeScalars)
        owners = Array(repeating: nil, count: source.count)
        for root in roots { add(root) }
    }

    private mutating func add(_ report: RulesCoverage.Report) {
        let index = reports.count
        reports.append(report)
        for offset in report.position.offset...report.position.endOffset { owners[offset] = index }
        lineCounts[report.position.line] = max(lineCounts[report.position.line] ?? 0, report.count)
        for child in report.children { add(child) }
    }

    mutating func finish() -> [UInt8] {
        bytes += Self.head.utf8
        var start = 0
        var line = 1
        while start < source.count {
            let end = source[start...].firstIndex(of: "\n") ?? source.count
            writeLine(line, start..<end)
            start = end + 1
            line += 1
        }
        bytes += "</table></body></html>\n".utf8
        return bytes
    }

    private mutating func writeLine(_ number: Int, _ range: Range<Int>) {
        let count = lineCounts[number]
        bytes += "<tr><td>\(number)</td><td\(count == 0 ? " class=missed" : "")>\(count.map(String.init) ?? "")</td><td>".utf8
        var start = range.lowerBound
        while start < range.upperBound {
            let owner = owners[start]
            let end = owners[start..<range.upperBound].firstIndex { $0 != owner } ?? range.upperBound
            let text = source[start..<end]
            if let owner {
                writeExpression(reports[owner], text)
            } else {
                escape(text)
            }
            start = end
        }
        bytes += "</td></tr>\n".utf8
    }

    private mutating func writeExpression(_ report: RulesCoverage.Report, _ text: ArraySlice<Unicode.Scalar>) {
        bytes += "<span class=\(report.values.isEmpty ? "missed" : "hit") title=\"".utf8
        if report.values.isEmpty { bytes += "never evaluated".utf8 }
        for (index, value) in report.values.enumerated() {
            if index > 0 { bytes += "&#10;".utf8 }
            escape(value.text.unicodeScalars)
            bytes += " ×\(value.count)".utf8
        }
        bytes += "\">".utf8
        escape(text)
        bytes += "</span>".utf8
    }

    private mutating func escape(_ text: some Sequence<Unicode.Scalar>) {
        for scalar in text {
            switch scalar {
            case "&": bytes += "&amp;".utf8
            case "<": bytes += "&lt;".utf8
            case ">": bytes += "&gt;".utf8
            case "\"": bytes += "&quot;".utf8
            case "\r": break
            case "\t", "\u{20}"...: bytes += String(scalar).utf8
            // Other control characters are no text of HTML.
            default: bytes += "\u{FFFD}".utf8
            }
        }
    }

    private static let head = """
        <!DOCTYPE html>
        <html lang="en"><head><meta charset="utf-8"><title>Coverage of security rules</title>
        <style>
        body { font: 14px/1.4 monospace; margin: 1em; }
        table { border-collapse: collapse; }
        td { padding: 0 .5em; white-space: pre-wrap; vertical-align: top; }
        td:nth-child(1), td:nth-child(2) { text-align: right; color: #777; }
        .hit { background: #dfd; } .missed { background: #fdd; }
        </style></head><body>
        <h1>Coverage of security rules</h1>
        <p>Line, evaluations, rules. The tooltip of an expression has its values with their numbers.</p>
        <table>

        """
}
