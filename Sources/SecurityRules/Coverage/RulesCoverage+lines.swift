internal import UTF8Text

extension RulesCoverage {
    /// Returns the coverage report as text: a line for each expression, indented inside the expression that it is part of, with
    /// its position, its beginning, and its values with their numbers.
    package func lines(of ruleset: Ruleset) -> [String] {
        let source = Array(ruleset.program.source.text.unicodeScalars)
        var lines: [String] = []
        func append(_ report: Report, _ indentation: String) {
            let text = String(String.UnicodeScalarView(source[report.position.offset...report.position.endOffset]))
            let values = report.values.map { "\($0.text) ×\($0.count)" }.joined(separator: ", ")
            lines.append("\(indentation)\(report.position) \(Excerpt(text).text): \(values.isEmpty ? "never evaluated" : values)")
            for child in report.children { append(child, indentation + "  ") }
        }
        for report in reports(of: ruleset) { append(report, "") }
        return lines
    }
}
