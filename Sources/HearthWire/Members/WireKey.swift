package import StrictJSON

/// The name of a member of a JSON form, shared by its writer, its reader and the declaration of a parameter.
package struct WireKey: Sendable, ExpressibleByStringLiteral {
    fileprivate let name: StaticString

    /// Creates a key from a literal.
    package init(stringLiteral name: StaticString) {
        self.name = name
    }

    /// The name.
    package var text: String { name.description }
}

extension JSONWriter {
    /// Writes a key; the value must follow.
    @_disfavoredOverload  // Otherwise a literal argument would be ambiguous.
    package mutating func key(_ key: WireKey) {
        self.key(key.name)
    }

    /// Writes a string member.
    package mutating func member(_ key: WireKey, _ value: String) {
        self.key(key)
        string(value)
    }

    /// Writes an integer member.
    package mutating func member(_ key: WireKey, _ value: Int) {
        self.key(key)
        integer(Int64(value))
    }

    /// Writes a boolean member.
    package mutating func member(_ key: WireKey, _ value: Bool) {
        self.key(key)
        boolean(value)
    }

    /// Writes an array member.
    package mutating func array<Element>(
        _ key: WireKey,
        of elements: [Element],
        _ write: (Element, inout JSONWriter) -> Void
    ) {
        self.key(key)
        beginArray()
        for element in elements { write(element, &self) }
        endArray()
    }
}
