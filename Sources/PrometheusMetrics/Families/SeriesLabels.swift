/// The labels of a series, as they are written: `{method="GET",code="2xx"}`, or nothing.
package struct SeriesLabels: Sendable, Hashable {
    /// The labels without the braces.
    private let pairs: String
    let text: String

    static let none = SeriesLabels(pairs: "")

    private init(pairs: String) {
        self.pairs = pairs
        text = pairs.isEmpty ? "" : "{\(pairs)}"
    }

    init(_ labels: some Sequence<(String, String)>) {
        self.init(pairs: labels.map { "\($0)=\"\(ExpositionWriter.escapedLabel($1))\"" }.joined(separator: ","))
    }

    /// Returns the labels with one more.
    func adding(_ name: String, _ value: String) -> SeriesLabels {
        SeriesLabels(pairs: pairs.isEmpty ? "\(name)=\"\(value)\"" : "\(pairs),\(name)=\"\(value)\"")
    }
}
