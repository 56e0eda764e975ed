import DocumentModel
import UTF8Text

/// A merge of two versions of a document file that were made from an earlier one.
struct DocumentMerge {
    /// The merged file. If there are conflicts, it is JSON only without the lines of the markers and without one of their sides.
    let text: [UInt8]
    /// The fields that both versions have changed, in order.
    let conflicts: [FieldPath]

    /// Merges document files, field by field.
    ///
    /// - Parameters:
    ///   - base: The version that both have changed; empty if there is none.
    ///   - markerLength: The length of the markers around conflicts.
    /// - Throws: `.invalidArgument` if one of them is not a document.
    init(ours: [UInt8], theirs: [UInt8], base: [UInt8], markerLength: Int) throws(StatusError) {
        let ours = try UntimedDocument(ours)
        let theirs = try UntimedDocument(theirs)
        let baseFields = base.isEmpty ? MapValue() : try UntimedDocument(base).fields
        let merge = FieldMerge(ours.fields, theirs.fields, since: baseFields)
        let id = ours.id ?? theirs.id
        let merged = UntimedDocument(fields: merge.fields, id: id).text
        conflicts = merge.conflicts
        guard !conflicts.isEmpty else {
            text = merged
            return
        }
        var fields = merge.fields
        for path in conflicts {
            if let value = theirs.fields[path] { fields.set(value, at: path) } else { fields.remove(at: path) }
        }
        text = Self.text(merged, UntimedDocument(fields: fields, id: id).text, markerLength)
    }

    /// Returns a text with markers around the lines in which two files differ, at most around whole fields.
    private static func text(_ ours: [UInt8], _ theirs: [UInt8], _ markerLength: Int) -> [UInt8] {
        let (ours, theirs) = (members(of: ours), members(of: theirs))
        // Each has a name that no other one has, so all are different, and the order is the same.
        let indices = Dictionary(uniqueKeysWithValues: theirs.enumerated().map { ($0.element, $0.offset) })
        var text: [UInt8] = []
        var (our, their) = (0, 0)
        while our < ours.count {
            let next = ours[our...].firstIndex { indices[$0] != nil } ?? ours.count
            let theirNext = next < ours.count ? indices[ours[next]] ?? theirs.count : theirs.count
            let region = (ours[our..<next].flatMap(\.self), theirs[their..<theirNext].flatMap(\.self))
            append(region.0, region.1, markerLength, to: &text)
            if next < ours.count { append(ours[next], to: &text) }
            our = next + 1
            their = theirNext + 1
        }
        return text
    }

    private typealias Line = ArraySlice<UInt8>

    /// Returns the lines of the members of a document file; those with the brackets around them are on their own.
    private static func members(of text: [UInt8]) -> [[Line]] {
        var members: [[Line]] = []
        for line in text.split(separator: UInt8(ascii: "\n")) {
            let isContinuation =
                line.starts(with: "   ".utf8) || (line.starts(with: "  ".utf8) && !line.starts(with: "  \"".utf8))
            if isContinuation, !members.isEmpty { members[members.count - 1].append(line) } else { members.append([line]) }
        }
        return members
    }

    private static func append(_ lines: some Sequence<Line>, to text: inout [UInt8]) {
        for line in lines {
            text += line
            text.append(UInt8(ascii: "\n"))
        }
    }

    /// Appends different lines, with markers around those that are not the same at the beginning or the end.
    private static func append(_ ours: [Line], _ theirs: [Line], _ markerLength: Int, to text: inout [UInt8]) {
        guard ours != theirs else { return }
        let start = zip(ours, theirs).prefix { $0 == $1 }.count
        let (ourRest, theirRest) = (ours[start...], theirs[start...])
        let end = zip(ourRest.reversed(), theirRest.reversed()).prefix { $0 == $1 }.count
        func marker(_ character: String, _ label: String) -> Line {
            Line((String(repeating: character, count: markerLength) + label).utf8)
        }
        append(ours[..<start], to: &text)
        append([marker("<", " ours")], to: &text)
        append(ourRest.dropLast(end), to: &text)
        append([marker("=", "")], to: &text)
        append(theirRest.dropLast(end), to: &text)
        append([marker(">", " theirs")], to: &text)
        append(ourRest.suffix(end), to: &text)
    }
}
