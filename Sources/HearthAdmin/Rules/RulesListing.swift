import SecurityRules

/// The text of rules with line numbers, and what there is to say about each line.
struct RulesListing: ViewModel {
    private let listingLabel: String
    private let linesMarkup: Markup
    private let omissionNote: String?

    /// A remark about a line.
    enum Annotation: Sendable {
        /// An error or a warning of the compiler.
        case issue(RulesIssue)
        /// The number of denied requests.
        case denials(Int)
        /// The value of an expression in a request, and its depth in the condition.
        case value(DisplayText, expression: DisplayText, depth: Int)
    }

    /// The part that a line had in a decision.
    enum Highlight: Sendable {
        case granted
        case denied
    }

    /// The maximum number of lines on a page.
    static let limit = 5_000

    /// - Parameters:
    ///   - prefix: The prefix of the lines' `id`, unique on the page.
    ///   - label: The name of the listing.
    ///   - annotations: The remarks, by line.
    init(
        _ source: RulesSource,
        prefix: StaticString,
        label: String,
        annotations: [Int: [Annotation]] = [:],
        highlights: [Int: Highlight] = [:]
    ) {
        listingLabel = label
        let lines = source.lines
        linesMarkup = Markup { markup in
            for (index, line) in lines.prefix(Self.limit).enumerated() {
                let remarks = annotations[index + 1] ?? []
                Row(number: index + 1, prefix: prefix, text: line, remarks: remarks, highlight: highlights[index + 1])
                    .write(to: &markup)
            }
        }
        omissionNote = TruncatedList<String>.omissionNote(shown: min(lines.count, Self.limit), of: lines.count)
    }

    /// Returns the URL of a line on the same page.
    static func url(ofLine line: Int, prefix: StaticString) -> String { "#\(prefix)\(line)" }
}

extension [RulesIssue] {
    /// The remarks about the lines.
    var annotations: [Int: [RulesListing.Annotation]] {
        Dictionary(grouping: self) { $0.position.line }.mapValues { $0.map { .issue($0) } }
    }
}

/// A line of a listing.
private struct Row {
    let number: Int
    let prefix: StaticString
    let text: ArraySlice<Unicode.Scalar>
    let remarks: [RulesListing.Annotation]
    let highlight: RulesListing.Highlight?

    private var issues: [RulesIssue] {
        remarks.compactMap { remark in if case .issue(let issue) = remark { issue } else { nil } }
    }

    func write(to markup: inout Markup) {
        markup.raw(#"<tr id=""#)
        markup.raw(prefix)
        markup.text(String(number))
        markup.raw(#"""#)
        if let name = className {
            markup.raw(#" class=""#)
            markup.raw(name)
            markup.raw(#"""#)
        }
        markup.raw(##"><td class="line"><a href="#"##)
        markup.raw(prefix)
        markup.text(String(number))
        markup.raw(#"">"#)
        markup.text(String(number))
        markup.raw(#"</a></td><td class="source"><code lang="">"#)
        writeText(to: &markup)
        markup.raw("</code>")
        for case .denials(let count) in remarks {
            markup.raw(#" <span class="type unusual" dir="auto">"#)
            markup.text(localized(count: count, one: "denied {count} time", other: "denied {count} times"))
            markup.raw("</span>")
        }
        writeRemarks(to: &markup)
        markup.raw("</td></tr>\n")
    }

    private var className: StaticString? {
        switch highlight {
        case .granted: "granted"
        case .denied: "denied"
        case nil:
            if issues.contains(where: { $0.severity == .error }) {
                "error"
            } else {
                issues.isEmpty ? nil : "warning"
            }
        }
    }

    /// Writes the text, with the ranges of issues marked.
    private func writeText(to markup: inout Markup) {
        var written = 0
        for issue in issues {
            let start = min(issue.position.column - 1, text.count)
            let end = min(start + issue.position.endOffset - issue.position.offset + 1, text.count)
            guard written <= start, start < end else { continue }
            write(written..<start, to: &markup)
            markup.raw("<mark>")
            write(start..<end, to: &markup)
            markup.raw("</mark>")
            written = end
        }
        write(written..<text.count, to: &markup)
    }

    private func write(_ range: Range<Int>, to markup: inout Markup) {
        guard !range.isEmpty else { return }
        var view = String.UnicodeScalarView()
        view.append(contentsOf: text.dropFirst(range.lowerBound).prefix(range.count))
        DisplayText(String(view), lines: .multiple).writeRuns(to: &markup)
    }

    private func writeRemarks(to markup: inout Markup) {
        let remarks = remarks.filter { if case .denials = $0 { false } else { true } }
        guard !remarks.isEmpty else { return }
        markup.raw(#"<ul class="remarks">"#)
        for remark in remarks {
            switch remark {
            case .denials: break
            case .issue(let issue):
                markup.raw(issue.severity == .error ? #"<li class="error">"# : #"<li class="warning">"#)
                markup.raw("<bdi>")
                markup.text(issue.severity == .error ? localized("Error") : localized("Warning"))
                markup.raw("</bdi>: ")
                DisplayText(issue.message).write(to: &markup, opening: #"<bdi lang="en" dir="ltr">"#)
                markup.raw("</li>")
            case .value(let value, let expression, let depth):
                markup.raw(Self.depthClasses[min(depth, Self.depthClasses.count - 1)])
                markup.raw(#"<code lang="">"#)
                expression.writeRuns(to: &markup)
                markup.raw(#"</code> <span class="value">"#)
                value.write(to: &markup)
                markup.raw("</span></li>")
            }
        }
        markup.raw("</ul>")
    }

    /// The start tags of values by depth; deeper ones are not indented further.
    private static let depthClasses: [StaticString] = [
        #"<li>"#, #"<li class="depth-1">"#, #"<li class="depth-2">"#, #"<li class="depth-3">"#, #"<li class="depth-4">"#,
        #"<li class="depth-5">"#, #"<li class="depth-6">"#,
    ]
}
