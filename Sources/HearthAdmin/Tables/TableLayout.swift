import DocumentModel
import HearthHTTP
import UTF8Text

/// The arrangement of the table of a collection that a browser keeps: the chosen columns in order, widths, and pinned columns.
///
/// A cookie has it, whose path is that of the collection's page. A browser also sends it for the collections below, so its name has the
/// depth of the collection.
///
/// ```
/// table-1=title=c240&author.name=cp
/// ```
struct TableLayout: Hashable, Sendable {
    /// The chosen columns in order; empty to show the fields of the documents.
    var columns: [FieldPath] = []
    /// The widths of columns in pixels. That of the document name is the width of the IDs.
    private(set) var widths: [FieldPath: Int] = [:]
    /// The columns that stay beside the IDs while the others scroll.
    private(set) var pinned: Set<FieldPath> = []

    /// The widths that a column can have, in pixels.
    static let widthRange = 48...1_200
    /// The width of a pinned column without one of its own.
    static let pinnedWidth = 160
    /// The width of the IDs beside pinned columns, without one of its own.
    static let pinnedIDWidth = 192
    /// The maximum number of columns that a form can have.
    static let maximumColumnCount = 500
    /// The maximum size of the cookie's value. The cookies of nested collections are sent together, and a server limits the head of a
    /// request.
    private static let maximumBytes = 1_500
    /// The maximum size of a cookie's path. A browser ignores a longer one, and would send the cookie for other collections.
    private static let maximumPathBytes = 1_024

    /// Sets the width of a column; `nil` for the width of its values. One outside of ``widthRange`` becomes the nearest in it.
    mutating func setWidth(_ width: Int?, of column: FieldPath) {
        widths[column] = width.map { min(max($0, Self.widthRange.lowerBound), Self.widthRange.upperBound) }
    }

    /// Pins a column, or releases it.
    mutating func setPinned(_ isPinned: Bool, _ column: FieldPath) {
        if isPinned { pinned.insert(column) } else { pinned.remove(column) }
    }
}

extension TableLayout {
    /// Reads the layout of a collection's table from the cookies of a request. What is malformed is ignored.
    init(of collection: CollectionPath, in cookies: Cookies) {
        guard let text = cookies[UTF8Key(Self.cookieName(for: collection))] else { return }
        for case let item? in QueryString.decodeItems(of: text.utf8) {
            guard let column = try? FieldPathText.path(item.name.string) else { continue }
            var digits = item.value.utf8[...]
            if digits.first == UInt8(ascii: "c") {
                columns.append(column)
                digits = digits.dropFirst()
            }
            if digits.first == UInt8(ascii: "p") {
                pinned.insert(column)
                digits = digits.dropFirst()
            }
            setWidth(Int(String(Substring(digits))), of: column)
        }
    }

    /// The `Set-Cookie` value that keeps the layout for a year, or removes the cookie of an empty one.
    ///
    /// Columns that a cookie has no room for are not kept.
    ///
    /// - Throws: `failedPrecondition` if the path of the collection's page is too long for a cookie.
    func cookie(for collection: CollectionPath) throws(StatusError) -> String {
        let path = AdminURL.collection(collection)
        guard path.utf8.count <= Self.maximumPathBytes else {
            throw StatusError(
                .failedPrecondition,
                "The path of the collection is too long for a cookie, in which a browser keeps columns. Choose columns in the URL "
                    + "of the page, as in ?cols=title.",
                path: collection.string
            )
        }
        var value = ""
        let chosen = Set(columns)
        let others = Set(widths.keys).union(pinned).subtracting(chosen)
        for column in columns + others.sorted() {
            let item =
                (value.utf8.isEmpty ? "" : "&") + PercentEncoding.encode(UTF8Key(FieldPathText.text(column))) + "="
                + (chosen.contains(column) ? "c" : "") + (pinned.contains(column) ? "p" : "")
                + (widths[column].map(String.init) ?? "")
            guard value.utf8.count + item.utf8.count <= Self.maximumBytes else { continue }
            value += item
        }
        let age = value.utf8.isEmpty ? 0 : 31_536_000
        return "\(Self.cookieName(for: collection))=\(value); Path=\(path); Max-Age=\(age); HttpOnly; SameSite=Lax"
    }

    private static func cookieName(for collection: CollectionPath) -> String { "table-\(collection.segments.count)" }
}

extension TableLayout {
    /// Changes the layout as a form says: the form of the columns, or the script that changes the width of one.
    ///
    /// - Throws: `invalidArgument` for a column that is not a field path, and for more than ``maximumColumnCount`` columns.
    mutating func apply(_ form: Form) throws(StatusError) {
        switch form["do"] {
        case "reset": self = TableLayout()
        case "width": setWidth(Int(form.text("width")), of: try FieldPathText.path(form.text("field")))
        default: try applyColumns(form)
        }
    }

    private mutating func applyColumns(_ form: Form) throws(StatusError) {
        let (fields, positions, widths) = (form.values("field"), form.values("position"), form.values("width"))
        let checked = form.values("cols").filter { $0.byteCount > 0 }
        guard max(fields.count, checked.count) <= Self.maximumColumnCount else {
            throw StatusError(
                .invalidArgument,
                "A table has at most \(Self.maximumColumnCount) columns, but the form has \(max(fields.count, checked.count)). "
                    + "Choose fewer."
            )
        }
        let pinned = Set(form.values("pin"))
        var shown: [(column: FieldPath, position: Double)] = []
        for (index, field) in fields.enumerated() {
            let column = try FieldPathText.path(field.string)
            let position = index < positions.count ? NumberInput.double(positions[index].string) : nil
            shown.append((column, position ?? Double(index + 1)))
            setWidth(index < widths.count ? Int(FormTextCoding.trimmed(widths[index].string)) : nil, of: column)
            setPinned(pinned.contains(field), column)
        }
        var chosen: Set<FieldPath> = []
        var added: [FieldPath] = []
        let known = Set(shown.map(\.column))
        for text in checked {
            let column = try FieldPathText.path(text.string)
            if chosen.insert(column).inserted, !known.contains(column) { added.append(column) }
        }
        let order = shown.enumerated().sorted { ($0.element.position, $0.offset) < ($1.element.position, $1.offset) }
            .map(\.element.column)
        let arranged = order.filter(chosen.contains) + added
        // Unless they are changed, the columns go on following the fields of the documents.
        columns = form.has("automatic") && arranged == shown.map(\.column) ? [] : arranged
    }
}

extension TableLayout {
    /// The CSS rules of widths and pinned columns, built from numbers.
    ///
    /// - Parameters:
    ///   - columns: The columns of the table, the pinned ones first.
    ///   - canWrite: Whether the rows begin with a checkbox.
    func rules(for columns: [FieldPath], canWrite: Bool) -> [String] {
        var rules: [String] = []
        let first = canWrite ? 2 : 1
        let pinnedCount = columns.prefix { pinned.contains($0) }.count
        if let width = widths[.documentName] ?? (pinnedCount > 0 ? Self.pinnedIDWidth : nil) {
            rules.append(Self.rule(ofWidth: width, at: first))
        }
        var offset = widths[.documentName] ?? Self.pinnedIDWidth
        for (index, column) in columns.enumerated() {
            let number = first + 1 + index
            let width = widths[column] ?? (index < pinnedCount ? Self.pinnedWidth : nil)
            guard let width else { continue }
            rules.append(Self.rule(ofWidth: width, at: number))
            guard index < pinnedCount else { continue }
            // On a narrow screen, pinned columns would cover the others.
            let start = canWrite ? "calc(2.1rem + \(offset)px)" : "\(offset)px"
            rules.append(
                "@media screen and (min-width:48rem){\(Self.selector(number)){position:sticky;inset-inline-start:\(start);z-index:1}"
                    + ".documents :where(tbody) :is(th,td):nth-child(\(number)):where(:not([colspan],.unusual-cell))"
                    + "{background:var(--surface)}}"
            )
            offset += width
        }
        return rules
    }

    private static func rule(ofWidth width: Int, at number: Int) -> String {
        "\(selector(number)){width:\(width)px;min-width:\(width)px;max-width:\(width)px}"
    }

    /// The selector of the cells of a column. It has no character that HTML escapes.
    private static func selector(_ number: Int) -> String {
        ".documents :is(th,td):nth-child(\(number)):where(:not([colspan]))"
    }
}
