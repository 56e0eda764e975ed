/// JSON assembled from parts of a file, with a mapping of its positions to positions in the file.
struct LocatedJSON {
    private(set) var bytes: [UInt8]
    /// The parts: the line where each begins, at its first column, and the position in the file.
    private let parts: [(line: Int, position: TextPosition)]

    /// Creates JSON from a single element.
    init(_ element: JSONStreamSplitter.Element) {
        bytes = element.bytes
        parts = [(1, element.position)]
    }

    /// Creates an object from its members.
    init(members: [JSONStreamSplitter.Element]) {
        bytes = [UInt8(ascii: "{")]
        var parts: [(line: Int, position: TextPosition)] = []
        var line = 1
        for member in members {
            bytes += (parts.isEmpty ? "\n" : ",\n").utf8
            line += 1
            parts.append((line, member.position))
            bytes += member.bytes
            line += member.bytes.count(where: { $0 == UInt8(ascii: "\n") })
        }
        bytes.append(UInt8(ascii: "}"))
        self.parts = parts
    }

    /// The position of the start in the file.
    var position: TextPosition { parts.first?.position ?? TextPosition() }

    /// Converts a position in the JSON to a position in the file.
    func position(line: Int, column: Int) -> TextPosition {
        guard let part = parts.last(where: { $0.line <= line }) else { return position }
        return part.position.adding(line: line - part.line + 1, column: column)
    }
}
