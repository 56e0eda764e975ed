/// A datum as a page shows it: its characters as they are, those that can't be seen set apart as marks.
///
/// Templates show it within `<bdi>`, so that its direction stays its own.
struct DisplayText: Sendable {
    /// What may stand in the text unmarked.
    enum Lines: Sendable {
        /// Line breaks, tabs and spaces at the edges are marked: IDs, names, cells of a table.
        case single
        /// They are shown as such, in a place that keeps white space.
        case multiple
    }

    /// A mark, when there is one, and the ordinary text after it.
    struct Run: Sendable {
        let mark: InvisibleMark?
        let text: String
    }

    /// The text in pieces, each begun by a mark but perhaps the first.
    let runs: [Run]

    /// Takes the text apart.
    init(_ text: String, lines: Lines = .single) {
        self.init(text, lines: lines, isCut: false)
    }

    /// Takes the beginning of a text apart, with an ellipsis where it is cut.
    ///
    /// - Parameter limit: How many Unicode scalars there is room for.
    init(beginningOf text: String, scalars limit: Int) {
        self.init(text.beginning(scalars: limit))
    }

    /// Takes the beginning of a text apart, which was looked at before.
    init(_ beginning: (text: String, isCut: Bool)) {
        self.init(beginning.text, lines: .single, isCut: beginning.isCut)
    }

    private init(_ text: String, lines: Lines, isCut: Bool) {
        let ending = isCut ? "…" : ""
        guard Self.needsCare(text, isCut: isCut) else {
            runs = [Run(mark: nil, text: text + ending)]
            return
        }
        let scalars = text.unicodeScalars
        var runs: [Run] = []
        var mark: InvisibleMark?
        var start = scalars.startIndex
        var previous: Unicode.Scalar?
        var index = scalars.startIndex
        while index < scalars.endIndex {
            let scalar = scalars[index]
            let following = scalars.index(after: index)
            let next = following < scalars.endIndex ? scalars[following] : isCut ? "…" : nil
            if !(lines == .multiple && Self.isLayout(scalar)),
                let found = InvisibleMark(scalar, after: previous, before: next)
            {
                if mark != nil || start < index { runs.append(Run(mark: mark, text: String(scalars[start..<index]))) }
                mark = found
                start = following
            }
            previous = scalar
            index = following
        }
        if mark != nil || start < index || isCut { runs.append(Run(mark: mark, text: String(scalars[start...]) + ending)) }
        self.runs = runs
    }

    /// Whether there is nothing to show.
    var isEmpty: Bool { runs.allSatisfy { $0.mark == nil && $0.text.utf8.isEmpty } }

    /// The text on one line with the marks in brackets, for attributes and titles.
    var plain: String {
        runs.map { run in run.mark.map { "⟨\($0.label)⟩\(run.text)" } ?? run.text }.joined()
    }

    /// Whether the text may hold an invisible character: most texts are plain and pass here.
    private static func needsCare(_ text: String, isCut: Bool) -> Bool {
        let space = UInt8(ascii: " ")
        return text.utf8.first == space || (!isCut && text.utf8.last == space) || text.utf8.contains { $0 < 0x20 || $0 >= 0x7f }
    }

    private static func isLayout(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "\n" || scalar == "\t" || scalar == " "
    }
}
