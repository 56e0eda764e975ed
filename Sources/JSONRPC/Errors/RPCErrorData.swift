package import StrictJSON
package import UTF8Text

/// The `data` member of an error object: named values in insertion order.
///
/// ```swift
/// RPCError(5, "There is no document books/vogon.", data: ["status": "NOT_FOUND", "path": .string(path)])
/// ```
package struct RPCErrorData: Sendable, ExpressibleByDictionaryLiteral {
    /// A value in error data.
    package enum Value: Sendable, ExpressibleByStringLiteral {
        case string(String)
        case integer(Int)
        case boolean(Bool)
        case object(RPCErrorData)

        package init(stringLiteral value: String) {
            self = .string(value)
        }
    }

    private var members: [(key: UTF8Key, value: Value)]

    /// True if there are no members; the error object then has no `data`.
    package var isEmpty: Bool {
        members.isEmpty
    }

    package init(dictionaryLiteral elements: (UTF8Key, Value)...) {
        self.members = []
        for (key, value) in elements {
            self[key] = value
        }
    }

    /// The value of a member. Setting a new key appends it, setting an existing one keeps its position; `nil` removes it.
    package subscript(_ key: UTF8Key) -> Value? {
        get {
            members.first { $0.key == key }?.value
        }
        set {
            let index = members.firstIndex { $0.key == key }
            switch (index, newValue) {
            case (let index?, let value?): members[index].value = value
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append((key, value))
            case (nil, nil): break
            }
        }
    }

    /// Writes the members as a JSON object.
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        for (key, value) in members {
            writer.key(key)
            switch value {
            case .string(let string): writer.string(string)
            case .integer(let integer): writer.integer(Int64(integer))
            case .boolean(let boolean): writer.boolean(boolean)
            case .object(let object): object.write(to: &writer)
            }
        }
        writer.endObject()
    }
}
