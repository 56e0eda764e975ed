package import StrictJSON
package import UTF8Text

extension JSONWriter {
    /// Writes a string member.
    package mutating func member(_ key: UTF8Key, _ value: String) {
        self.key(key)
        string(value)
    }

    /// Writes an integer member.
    package mutating func member(_ key: UTF8Key, _ value: Int) {
        self.key(key)
        integer(Int64(value))
    }

    /// Writes a boolean member.
    package mutating func member(_ key: UTF8Key, _ value: Bool) {
        self.key(key)
        boolean(value)
    }

    /// Writes an array member.
    package mutating func array<Element>(
        _ key: UTF8Key,
        of elements: [Element],
        _ write: (Element, inout JSONWriter) -> Void
    ) {
        self.key(key)
        beginArray()
        for element in elements { write(element, &self) }
        endArray()
    }
}
