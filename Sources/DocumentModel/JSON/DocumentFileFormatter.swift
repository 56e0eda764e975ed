internal import StrictJSON
internal import UTF8Text

/// A formatter that breaks compact canonical JSON into lines.
///
/// Makes a single pass over the bytes, without recursion. A container that fits on its line is copied with spaces; otherwise it
/// is opened, and its members are formatted one by one. Each byte is examined at most once per column of a line.
struct DocumentFileFormatter {
    private static let columns = 100
    private static let mapTag = Array("{\"$map\":{".utf8)
    private static let anyTag = Array("{\"$".utf8)

    /// The members of the metadata, in order.
    typealias Metadata = [(key: UTF8Key, text: String)]

    private let source: [UInt8]
    private let metadata: Metadata
    private var position = 0
    private var output: [UInt8] = []
    private var startOfLine = 0
    /// The number of closing brackets of each open container: 1, or 2 for a tagged map.
    private var open: [Int] = []

    /// Formats the contents of a file.
    ///
    /// - Parameter metadata: The members of `$document`, which the file has if there are any.
    static func bytes(ofFields fields: [UInt8], metadata: Metadata) -> [UInt8] {
        var formatter = DocumentFileFormatter(source: fields, metadata: metadata)
        formatter.format()
        return formatter.output
    }

    private init(source: [UInt8], metadata: Metadata) {
        self.source = source
        self.metadata = metadata
        output.reserveCapacity(source.count + source.count / 4 + 160)
    }

    private mutating func format() {
        beginFields()
        while !open.isEmpty, position < source.count {
            switch source[position] {
            case UInt8(ascii: "\""):
                copyString()
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                formatContainer()
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

    /// Opens the outermost object. If it is tagged, the tag becomes its first member, next to the metadata.
    private mutating func beginFields() {
        beginContainer(bracketCount: 1)
        if source.starts(with: Self.mapTag) {
            breakLine()
            copyString()
            copyByte()
            output.append(UInt8(ascii: " "))
            beginContainer(bracketCount: 1)
        }
        if byte(at: position) != UInt8(ascii: "}") { breakLine() }
    }

    private mutating func formatContainer() {
        let isMapTag = source[position...].starts(with: Self.mapTag)
        // Other tagged values and empty containers are never broken, however long.
        let isUnbreakable = !isMapTag && (source[position...].starts(with: Self.anyTag) || isEmptyContainer)
        // Reserves a column for a comma, even without one, so that appending a field doesn't change this line.
        let maximumWidth = isUnbreakable ? Int.max : Self.columns - 1 - columnsUsed
        if let end = endOfContainer(within: maximumWidth) {
            copyOnOneLine(to: end)
        } else {
            beginContainer(bracketCount: isMapTag ? 2 : 1)
            breakLine()
        }
    }

    private var isEmptyContainer: Bool {
        let next = byte(at: position + 1)
        return next == UInt8(ascii: "}") || next == UInt8(ascii: "]")
    }

    private mutating func beginContainer(bracketCount: Int) {
        if bracketCount == 2 {
            output.append(contentsOf: "{\"$map\": {".utf8)
            position += Self.mapTag.count
        } else {
            copyByte()
        }
        open.append(bracketCount)
    }

    private mutating func endContainer() {
        if open.count == 1, !metadata.isEmpty { appendMetadata() }
        let bracketCount = open.removeLast()
        if output.last != UInt8(ascii: "{") { breakLine() }
        for _ in 0..<bracketCount { copyByte() }
    }

    private mutating func appendMetadata() {
        if byte(at: position - 1) != UInt8(ascii: "{") { output.append(UInt8(ascii: ",")) }
        breakLine()
        appendKey(DocumentFileMetadata.key)
        output.append(UInt8(ascii: "{"))
        for (index, (key, text)) in metadata.enumerated() {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            breakLine(levels: 2)
            appendKey(key)
            var writer = JSONWriter(reservingCapacity: text.utf8.count + 2)
            writer.string(text)
            output.append(contentsOf: writer.bytes)
        }
        breakLine()
        output.append(UInt8(ascii: "}"))
    }
}

extension DocumentFileFormatter {
    private func byte(at position: Int) -> UInt8? {
        source.indices.contains(position) ? source[position] : nil
    }

    /// Appends the key of a member of the metadata, none of which needs escaping.
    private mutating func appendKey(_ key: UTF8Key) {
        output.append(UInt8(ascii: "\""))
        key.withBytes { output.append(contentsOf: $0) }
        output.append(contentsOf: [UInt8(ascii: "\""), UInt8(ascii: ":"), UInt8(ascii: " ")])
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

    /// The width of the current line, in Unicode scalars.
    private var columnsUsed: Int {
        output[startOfLine...].reduce(0) { $0 + ($1.beginsScalar ? 1 : 0) }
    }

    /// Returns the end of the container at the current position, or `nil` if it is wider than `maximumWidth` columns on one line.
    private func endOfContainer(within maximumWidth: Int) -> Int? {
        var width = 0
        var depth = 0
        var end = position
        while end < source.count, width <= maximumWidth {
            switch source[end] {
            case UInt8(ascii: "\""):
                let start = end
                end = endOfString(at: start)
                // Very long strings are not scanned: a scalar has at most four bytes.
                guard (end - start) / 4 <= maximumWidth else { return nil }
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
            if depth == 0 { return width <= maximumWidth ? end : nil }
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
    /// True if the byte is the first of a UTF-8 sequence.
    fileprivate var beginsScalar: Bool { self & 0b1100_0000 != 0b1000_0000 }
}
