import Foundation

/// A line plot with logarithmic axes, as SVG that is legible on light and dark backgrounds.
struct LinePlot {
    struct Point {
        var x: Double
        var y: Double
    }

    struct Series {
        var name: String
        var points: [Point]
    }

    var title: String
    var horizontalLabel: String
    var verticalLabel: String
    var series: [Series] = []

    /// Adds a point to a series, which is created if it does not exist.
    mutating func add(x: Double, y: Double, to name: String) {
        if let index = series.firstIndex(where: { $0.name == name }) {
            series[index].points.append(Point(x: x, y: y))
        } else {
            series.append(Series(name: name, points: [Point(x: x, y: y)]))
        }
    }

    private static let width = 640.0
    private static let height = 360.0
    private static let left = 72.0
    private static let right = 190.0
    private static let top = 40.0
    private static let bottom = 52.0

    /// The plot as an SVG document.
    var svg: String {
        let points = series.flatMap(\.points)
        let horizontal = Axis(points.map(\.x), from: Self.left, to: Self.width - Self.right, roundsToDecades: false)
        let vertical = Axis(points.map(\.y), from: Self.height - Self.bottom, to: Self.top, roundsToDecades: true)
        var lines = [
            """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Int(Self.width)) \(Int(Self.height))" role="img" \
            font-family="system-ui, sans-serif" font-size="12">
            <title>\(title)</title>
            <style>
            text { fill: #333 } line { stroke: #8886 } polyline { fill: none; stroke-width: 2 }
            .a { stroke: #0a6ed1; fill: #0a6ed1 } .b { stroke: #c2410c; fill: #c2410c } .c { stroke: #15803d; fill: #15803d }
            polyline.a, polyline.b, polyline.c { fill: none } text.a, text.b, text.c { stroke: none }
            @media (prefers-color-scheme: dark) {
            text { fill: #ddd }
            .a { stroke: #6cb6ff; fill: #6cb6ff } .b { stroke: #fb923c; fill: #fb923c } .c { stroke: #4ade80; fill: #4ade80 }
            }
            </style>
            """,
            text(title, x: Self.left, y: 20, weight: "bold"),
            text(horizontalLabel, x: (Self.left + Self.width - Self.right) / 2, y: Self.height - 12, anchor: "middle"),
            text(verticalLabel, x: Self.left, y: Self.top - 6, anchor: "middle"),
        ]
        for value in Set(points.map(\.x)).sorted() {
            let x = horizontal.position(of: value)
            lines.append(line(x, Self.top, x, Self.height - Self.bottom))
            lines.append(text(Report.grouped(value), x: x, y: Self.height - Self.bottom + 18, anchor: "middle"))
        }
        for value in vertical.decades {
            let y = vertical.position(of: value)
            lines.append(line(Self.left, y, Self.width - Self.right, y))
            let label = value < 1 ? Report.decimal(value, digits: 3) : Report.grouped(value)
            lines.append(text(label, x: Self.left - 8, y: y + 4, anchor: "end"))
        }
        let labels = labelPositions(on: vertical)
        for (index, series) in series.enumerated() {
            let name = ["a", "b", "c"][index % 3]
            let positions = series.points.map { point in
                (coordinate(horizontal.position(of: point.x)), coordinate(vertical.position(of: point.y)))
            }
            lines.append("<polyline class=\"\(name)\" points=\"\(positions.map { "\($0.0),\($0.1)" }.joined(separator: " "))\"/>")
            for (x, y) in positions { lines.append("<circle class=\"\(name)\" cx=\"\(x)\" cy=\"\(y)\" r=\"3\"/>") }
            lines.append(text(series.name, x: Self.width - Self.right + 10, y: labels[index], class: name))
        }
        return lines.joined(separator: "\n") + "\n</svg>\n"
    }

    /// Returns the vertical positions of the names of the series: beside their last points, without overlaps.
    private func labelPositions(on axis: Axis) -> [Double] {
        var positions = series.map { axis.position(of: $0.points.last?.y ?? 1) + 4 }
        var previous = -Double.infinity
        for index in positions.indices.sorted(by: { positions[$0] < positions[$1] }) {
            positions[index] = max(positions[index], previous + 15)
            previous = positions[index]
        }
        return positions
    }

    private func line(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double) -> String {
        "<line x1=\"\(coordinate(x1))\" y1=\"\(coordinate(y1))\" x2=\"\(coordinate(x2))\" y2=\"\(coordinate(y2))\"/>"
    }

    private func text(
        _ text: String,
        x: Double,
        y: Double,
        anchor: String = "start",
        weight: String = "normal",
        class name: String = ""
    ) -> String {
        let attributes = "x=\"\(coordinate(x))\" y=\"\(coordinate(y))\" text-anchor=\"\(anchor)\" font-weight=\"\(weight)\""
        return "<text \(attributes)\(name.isEmpty ? "" : " class=\"\(name)\"")>\(text)</text>"
    }

    private func coordinate(_ value: Double) -> String { Report.decimal(value, digits: 1) }

    /// A logarithmic axis.
    private struct Axis {
        private let minimum: Double
        private let maximum: Double
        private let start: Double
        private let end: Double

        /// - Parameters:
        ///   - start: The position of the minimum.
        ///   - end: The position of the maximum.
        init(_ values: [Double], from start: Double, to end: Double, roundsToDecades: Bool) {
            let logarithms = values.filter { $0 > 0 }.map { log10($0) }
            let minimum = logarithms.min() ?? 0
            let maximum = logarithms.max() ?? 1
            self.minimum = roundsToDecades ? minimum.rounded(.down) : minimum
            self.maximum = max(roundsToDecades ? maximum.rounded(.up) : maximum, self.minimum + 0.1)
            self.start = start
            self.end = end
        }

        /// The powers of ten on the axis.
        var decades: [Double] {
            stride(from: minimum.rounded(.up), through: maximum, by: 1).map { pow(10, $0) }
        }

        func position(of value: Double) -> Double {
            start + (end - start) * (log10(max(value, 1e-9)) - minimum) / (maximum - minimum)
        }
    }
}
