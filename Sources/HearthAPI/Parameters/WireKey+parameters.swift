package import HearthWire
package import JSONRPC
import UTF8Text

extension Parameter {
    /// Creates a parameter or a member of one that is a part of a wire form.
    @_disfavoredOverload  // Otherwise a literal argument would be ambiguous.
    package init(_ key: WireKey, _ description: String) {
        self.init(UTF8Key(key.text), description)
    }
}

extension JSONSchema.Property {
    /// Creates a member of a wire form.
    @_disfavoredOverload  // Otherwise a literal argument would be ambiguous.
    package init(_ key: WireKey, _ schema: JSONSchema, _ description: String, isRequired: Bool = true) {
        self.init(UTF8Key(key.text), schema, description, isRequired: isRequired)
    }
}
