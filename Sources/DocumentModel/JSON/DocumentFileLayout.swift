internal import StrictJSON

/// Lays compact canonical JSON out on lines.
///
/// Works on the bytes from left to right: what fits on its line is copied with spaces, what doesn't is opened and its
/// members are looked at one by one. So it doesn't recur, and each byte is looked at no more often than lines are long.
struct DocumentFileLayout {
    private static let columns = 100
    private static let mapTag = Array("{\"$map\":{".utf8)
    private static let anyTag = Array("{\"$".utf8)

    private let source: [UInt8]
    private let metadata: DocumentFileMetadata
    private var position = 0
    private var output: [UInt8] = []
    private var startOfLine = 0
    /// How many closing brackets end each of the open values: 1, or 2 for a map and its tag.
    private var open: [Int] = []

    /// The bytes of a file.
    static func bytes(ofFields fields: [UInt8], metadata: DocumentFileMetadata) -> [UInt8] {
        var layout = DocumentFileLayout(source: fields, metadata: metadata)
        layout.layOut()
        return layout.output
    }

    private init(source: [UInt8], metadata: DocumentFileMetadata) {
        self.source = source
        self.metadata = metadata
        output.reserveCapacity(source.count + source.count / 4 + 160)
    }

    private mutating func layOut() {
        beginFields()
        while !open.isEmpty, position < source.count {
            switch source[position] {
            case UInt8(ascii: "\""):
                copyString()
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                layOutContainer()
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                endContainer()
            case UInt8(ascii: ","):
                copyByte()
                breakLine()
            case UInt8(ascii: ":"):
                copyByte()
                output.append(UInt8(ascii: " "))
            default:
                copyByte()
            }
        }
        output.append(UInt8(ascii: "\n"))
    }

    /// The outermost object is always open, and a tag around it becomes its first member, beside the metadata.
    private mutating func beginFields() {
        beginContainer(of: 1)
        if source.starts(with: Self.mapTag) {
            breakLine()
            copyString()
            copyByte()
            output.append(UInt8(ascii: " "))
            beginContainer(of: 1)
        }
        if byte(at: position) != UInt8(ascii: "}") { breakLine() }
    }

    private mutating func layOutContainer() {
        let isMapTag = source[position...].starts(with: Self.mapTag)
        // A value with any other tag is one thing, however long, and so is an empty map or array.
        let staysTogether = !isMapTag && (source[position...].starts(with: Self.anyTag) || isEmptyContainer)
        // One column for a comma, also where none follows, so that appending a field leaves this line alone.
        let room = staysTogether ? Int.max : Self.columns - 1 - columnsUsed
        if let end = endOfContainer(within: room) {
            copyOnOneLine(to: end)
        } else {
            beginContainer(of: isMapTag ? 2 : 1)
            breakLine()
        }
    }

    private var isEmptyContainer: Bool {
        let next = byte(at: position + 1)
        return next == UInt8(ascii: "}") || next == UInt8(ascii: "]")
    }

    private mutating func beginContainer(of brackets: Int) {
        if brackets == 2 {
            output.append(contentsOf: "{\"$map\": {".utf8)
            position += Self.mapTag.count
        } else {
            copyByte()
        }
        open.append(brackets)
    }

    private mutating func endContainer() {
        if open.count == 1 { appendMetadata() }
        let brackets = open.removeLast()
        breakLine()
        for _ in 0..<brackets { copyByte() }
    }

    private mutating func appendMetadata() {
        if byte(at: position - 1) != UInt8(ascii: "{") { output.append(UInt8(ascii: ",")) }
        breakLine()
        append("\"\(DocumentFileMetadata.key)\": {")
        for (index, (key, text)) in metadata.members.enumerated() {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            breakLine(levels: 2)
            var writer = JSONWriter()
            writer.string(text)
            append("\"\(key)\": ")
            output.append(contentsOf: writer.bytes)
        }
        breakLine()
        append("}")
    }
}

extension DocumentFileLayout {
    private func byte(at position: Int) -> UInt8? {
        source.indices.contains(position) ? source[position] : nil
    }

    private mutating func append(_ text: String) {
        output.append(contentsOf: text.utf8)
    }

    private mutating func copyByte() {
        guard let byte = byte(at: position) else { return }
        output.append(byte)
        position += 1
    }

    private mutating func breakLine() {
        breakLine(levels: open.count)
    }

    private mutating func breakLine(levels: Int) {
        output.append(UInt8(ascii: "\n"))
        startOfLine = output.count
        output.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * levels))
    }

    private mutating func copyString() {
        let end = endOfString(at: position)
        output.append(contentsOf: source[position..<end])
        position = end
    }

    private func endOfString(at start: Int) -> Int {
        var end = start + 1
        while end < source.count, source[end] != UInt8(ascii: "\"") {
            end += source[end] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(end + 1, source.count)
    }

    /// Columns are Unicode scalars.
    private var columnsUsed: Int {
        output[startOfLine...].reduce(0) { $0 + ($1.beginsScalar ? 1 : 0) }
    }

    /// Where the container that begins here ends, if it is no wider than `room` columns on one line.
    private func endOfContainer(within room: Int) -> Int? {
        var width = 0
        var depth = 0
        var end = position
        while end < source.count, width <= room {
            switch source[end] {
            case UInt8(ascii: "\""):
                let start = end
                end = endOfString(at: start)
                // Wide strings aren't counted through: no scalar has more than four bytes.
                guard (end - start) / 4 <= room else { return nil }
                for byte in source[start..<end] where byte.beginsScalar { width += 1 }
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                width += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                width += 1
            case UInt8(ascii: ","), UInt8(ascii: ":"):
                width += 2
            default:
                width += 1
            }
            end += 1
            if depth == 0 { return width <= room ? end : nil }
        }
        return nil
    }

    private mutating func copyOnOneLine(to end: Int) {
        while position < end {
            switch source[position] {
            case UInt8(ascii: "\""):
                copyString()
            case UInt8(ascii: ","), UInt8(ascii: ":"):
                copyByte()
                output.append(UInt8(ascii: " "))
            default:
                copyByte()
            }
        }
    }
}

extension UInt8 {
    /// Whether this is the first byte of a scalar's UTF-8.
    fileprivate var beginsScalar: Bool { self & 0b1100_0000 != 0b1000_0000 }
}
