import StrictJSON

/// JSON over several lines, for people: what fits on a line stays on it, strings and numbers stay as they were written.
struct JSONOutline {
    private var bytes: [UInt8] = []

    /// The text of a value.
    static func text(_ node: JSONNode) -> String {
        var outline = JSONOutline()
        outline.write(node, indent: 0, room: lineLength)
        return VisibleJSON.text(outline.bytes)
    }

    private static let lineLength = 88

    /// - Parameter room: How many bytes fit on the rest of the line.
    private mutating func write(_ node: JSONNode, indent: Int, room: Int) {
        if node.count == 0 || node.rawBytes.count <= room {
            let start = bytes.count
            writeLine(node)
            if node.count == 0 || bytes.count - start <= room { return }
            bytes.removeSubrange(start...)
        }
        if let members = node.members {
            write("{")
            for (index, member) in members.enumerated() {
                beginLine(index, indent + 2)
                let start = bytes.count
                writeKey(member.key)
                write(member.value, indent: indent + 2, room: Self.lineLength - indent - 2 - (bytes.count - start))
            }
            endLines(indent, "}")
        } else if let elements = node.elements {
            write("[")
            for (index, element) in elements.enumerated() {
                beginLine(index, indent + 2)
                write(element, indent: indent + 2, room: Self.lineLength - indent - 2)
            }
            endLines(indent, "]")
        }
    }

    /// Writes a value on one line.
    private mutating func writeLine(_ node: JSONNode) {
        if let members = node.members {
            write("{")
            for (index, member) in members.enumerated() {
                if index > 0 { write(", ") }
                writeKey(member.key)
                writeLine(member.value)
            }
            write("}")
        } else if let elements = node.elements {
            write("[")
            for (index, element) in elements.enumerated() {
                if index > 0 { write(", ") }
                writeLine(element)
            }
            write("]")
        } else {
            bytes += node.rawBytes
        }
    }

    private mutating func writeKey(_ key: UTF8Key) {
        var writer = JSONWriter()
        writer.string(key.string)
        bytes += writer.finish()
        write(": ")
    }

    private mutating func beginLine(_ index: Int, _ indent: Int) {
        write(index == 0 ? "\n" : ",\n")
        bytes += [UInt8](repeating: UInt8(ascii: " "), count: indent)
    }

    private mutating func endLines(_ indent: Int, _ end: StaticString) {
        write("\n")
        bytes += [UInt8](repeating: UInt8(ascii: " "), count: indent)
        write(end)
    }

    private mutating func write(_ text: StaticString) {
        text.withUTF8Buffer { bytes += $0 }
    }
}
