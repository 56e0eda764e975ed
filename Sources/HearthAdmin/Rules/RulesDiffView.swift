/// The differences between two versions of rules, with a few unchanged lines around each change.
struct RulesDiffView: ViewModel {
    private let hasChanges: Bool
    private let diffMarkup: Markup
    private let omissionNote: String?

    /// The number of unchanged lines shown before and after a change.
    private static let context = 3

    init(from old: String, to new: String) {
        let diff = LineDiff(from: old, to: new)
        let lines = diff.lines
        hasChanges = !diff.isEmpty
        var isShown = [Bool](repeating: false, count: lines.count)
        for index in lines.indices where lines[index].kind != .unchanged {
            for near in max(0, index - Self.context)...min(lines.count - 1, index + Self.context) { isShown[near] = true }
        }
        let shown = lines.indices.filter { isShown[$0] }
        omissionNote = TruncatedList<String>.omissionNote(shown: min(shown.count, RulesListing.limit), of: shown.count)
        diffMarkup = Markup { markup in
            var previous = -1
            for index in shown.prefix(RulesListing.limit) {
                if index > previous + 1 { Self.writeGap(of: index - previous - 1, to: &markup) }
                Self.write(lines[index], to: &markup)
                previous = index
            }
            if shown.count <= RulesListing.limit, previous >= 0, previous < lines.count - 1 {
                Self.writeGap(of: lines.count - 1 - previous, to: &markup)
            }
        }
    }

    private static func write(_ line: LineDiff.Line, to markup: inout Markup) {
        switch line.kind {
        case .unchanged: markup.raw(#"<li><span class="sign"></span>"#)
        case .added:
            markup.raw(#"<li class="added"><span class="sign"><span aria-hidden="true">+</span><span class="visually-hidden">"#)
            markup.text(localized("added"))
            markup.raw("</span></span>")
        case .removed:
            markup.raw(#"<li class="removed"><span class="sign"><span aria-hidden="true">−</span><span class="visually-hidden">"#)
            markup.text(localized("removed"))
            markup.raw("</span></span>")
        }
        markup.raw(#" <code lang="">"#)
        DisplayText(line.text, lines: .multiple).writeRuns(to: &markup)
        markup.raw("</code></li>\n")
    }

    private static func writeGap(of count: Int, to markup: inout Markup) {
        markup.raw(#"<li class="gap" dir="auto">"#)
        markup.text(localized(count: count, one: "{count} unchanged line", other: "{count} unchanged lines"))
        markup.raw("</li>\n")
    }
}
