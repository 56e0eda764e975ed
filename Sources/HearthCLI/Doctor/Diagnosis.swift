import StrictJSON
import UTF8Text

/// A report about an installation: what needs attention, and the facts that somebody who helps asks for first.
struct Diagnosis: Sendable {
    /// A group of facts.
    struct Section: Sendable {
        let name: String
        /// The values, by name.
        private(set) var rows: [(name: String, text: String)] = []

        init(_ name: String) {
            self.name = name
        }

        /// Adds a value. Has no effect without one.
        mutating func add(_ name: String, _ text: String?) {
            if let text { rows.append((name, text)) }
        }
    }

    /// The problems that need attention, each as a sentence.
    private(set) var problems: [String] = []
    private(set) var sections: [Section] = []

    mutating func add(_ section: Section, problems: [String] = []) {
        sections.append(section)
        self.problems += problems
    }

    /// The width up to which names are aligned; those of metrics are longer.
    private static let maximumColumns = 24

    /// The lines for people.
    var lines: [String] {
        let found = problems.isEmpty ? ["No problems found."] : problems.map { "! " + $0 }
        return found
            + sections.flatMap { section in
                let width = min(section.rows.map(\.name.count).max() ?? 0, Self.maximumColumns)
                let rows = section.rows.map {
                    $0.name + String(repeating: " ", count: max(0, width - $0.name.count)) + "  " + $0.text
                }
                return ["", "== \(section.name)"] + rows
            }
    }

    /// The report as a JSON object: what needs attention, and an object for each section.
    func json() -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("problems")
        writer.beginArray()
        for problem in problems { writer.string(problem) }
        writer.endArray()
        writer.key("sections")
        writer.beginObject()
        for section in sections {
            writer.key(UTF8Key(section.name))
            writer.beginObject()
            for row in section.rows {
                writer.key(UTF8Key(row.name))
                writer.string(row.text)
            }
            writer.endObject()
        }
        writer.endObject()
        writer.endObject()
        return writer.finish()
    }
}
