/// Conversions between snake case and camel case, with the rules of Foundation's coders.
enum SnakeCase {
    /// Converts camel case to snake case: `myURLProperty` to `my_url_property`.
    static func fromCamelCase(_ name: String) -> String {
        let characters = Array(name)
        var converted = ""
        for (index, character) in characters.enumerated() {
            if index > 0, character.isUppercase, characters[index - 1] != "_" {
                // A word starts at an uppercase letter; in a run of them, at the last one if a lowercase letter follows.
                let followsLowercase = !characters[index - 1].isUppercase
                let precedesLowercase = index + 1 < characters.count && characters[index + 1].isLowercase
                if followsLowercase || precedesLowercase { converted += "_" }
            }
            converted += character.lowercased()
        }
        return converted
    }

    /// Converts snake case to camel case: `my_url_property` to `myUrlProperty`. Keeps leading and trailing underscores.
    static func toCamelCase(_ name: String) -> String {
        guard let first = name.firstIndex(where: { $0 != "_" }), let last = name.lastIndex(where: { $0 != "_" }) else {
            return name
        }
        let words = name[first...last].split(separator: "_")
        guard words.count > 1 else { return name }
        let camel = words.dropFirst().reduce(words[0].lowercased()) {
            $0 + $1.prefix(1).uppercased() + $1.dropFirst().lowercased()
        }
        return name[..<first] + camel + name[name.index(after: last)...]
    }
}
