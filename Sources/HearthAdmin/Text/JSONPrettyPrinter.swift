import StrictJSON
import UTF8Text

/// Formats JSON on several lines; a value that fits on one line stays on it. Strings and numbers keep their notation.
struct JSONPrettyPrinter {
    private var bytes: [UInt8] = []

    /// Formats a value.
    static func text(_ node: JSONNode) -> String {
        var printer = JSONPrettyPrinter()
        printer.write(node, indent: 0, availableWidth: lineLength)
        return EscapedJSON.text(printer.bytes)
    }

    private static let lineLength = 88

    /// - Parameter availableWidth: The number of bytes left on the line.
    private mutating func write(_ node: JSONNode, indent: Int, availableWidth: Int) {
        if node.count == 0 || node.rawBytes.count <= availableWidth {
            let start = bytes.count
            writeLine(node)
            if node.count == 0 || bytes.count - start <= availableWidth { return }
            bytes.removeSubrange(start...)
        }
        if let members = node.members {
            write("{")
            for (index, member) in members.enumerated() {
                beginLine(index, indent + 2)
                let start = bytes.count
                writeKey(member.key)
                write(member.value, indent: indent + 2, availableWidth: Self.lineLength - indent - 2 - (bytes.count - start))
            }
            endLines(indent, "}")
        } else if let elements = node.elements {
            write("[")
            for (index, element) in elements.enumerated() {
                beginLine(index, indent + 2)
                write(element, indent: indent + 2, availableWidth: Self.lineLength - indent - 2)
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
