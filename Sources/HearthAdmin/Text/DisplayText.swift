/// Stored text prepared for display, with invisible characters separated from the visible text.
///
/// Templates show it inside `<bdi>`, which isolates its writing direction.
struct DisplayText: Sendable {
    /// The treatment of whitespace.
    enum Lines: Sendable {
        /// Labels line breaks, tabs, and spaces at the edges: for IDs, names and table cells.
        case single
        /// Keeps whitespace, for elements that preserve it.
        case multiple
    }

    /// An optional invisible character and the visible text after it.
    struct Run: Sendable {
        let mark: InvisibleCharacter?
        let text: String
    }

    /// The runs of the text; each but the first starts with an invisible character.
    let runs: [Run]

    /// Splits text into runs.
    init(_ text: String, lines: Lines = .single) {
        self.init(text, lines: lines, isTruncated: false)
    }

    /// Truncates text with an ellipsis, and splits it into runs.
    ///
    /// - Parameter limit: The maximum number of Unicode scalars.
    init(truncating text: String, toScalars limit: Int) {
        self.init(text.truncated(toScalars: limit))
    }

    /// Splits the result of `truncated(toScalars:)` into runs.
    init(_ prefix: (text: String, isTruncated: Bool)) {
        self.init(prefix.text, lines: .single, isTruncated: prefix.isTruncated)
    }

    private init(_ text: String, lines: Lines, isTruncated: Bool) {
        let ending = isTruncated ? "…" : ""
        guard Self.mayNeedMarks(text, isTruncated: isTruncated) else {
            runs = [Run(mark: nil, text: text + ending)]
            return
        }
        let scalars = text.unicodeScalars
        var runs: [Run] = []
        var mark: InvisibleCharacter?
        var start = scalars.startIndex
        var previous: Unicode.Scalar?
        var index = scalars.startIndex
        while index < scalars.endIndex {
            let scalar = scalars[index]
            let following = scalars.index(after: index)
            let next = following < scalars.endIndex ? scalars[following] : isTruncated ? "…" : nil
            if !(lines == .multiple && Self.isLayout(scalar)),
                let found = InvisibleCharacter(scalar, after: previous, before: next)
            {
                if mark != nil || start < index { runs.append(Run(mark: mark, text: String(scalars[start..<index]))) }
                mark = found
                start = following
            }
            previous = scalar
            index = following
        }
        if mark != nil || start < index || isTruncated { runs.append(Run(mark: mark, text: String(scalars[start...]) + ending)) }
        self.runs = runs
    }

    /// True if the text is empty.
    var isEmpty: Bool { runs.allSatisfy { $0.mark == nil && $0.text.utf8.isEmpty } }

    /// The text on one line with the labels in brackets, for attributes and titles.
    var plain: String {
        runs.map { run in run.mark.map { "⟨\($0.label)⟩\(run.text)" } ?? run.text }.joined()
    }

    /// Returns whether text may contain an invisible character: a fast check that most text fails.
    private static func mayNeedMarks(_ text: String, isTruncated: Bool) -> Bool {
        let space = UInt8(ascii: " ")
        return text.utf8.first == space || (!isTruncated && text.utf8.last == space)
            || text.utf8.contains { $0 < 0x20 || $0 >= 0x7f }
    }

    private static func isLayout(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "\n" || scalar == "\t" || scalar == " "
    }
}
