import DocumentModel

/// Formats coordinates for display.
enum CoordinateFormat {
    /// `53.553986, 9.9856482`: latitude first, as stored.
    static func decimal(_ point: GeoPoint) -> String {
        "\(number(point.latitude)), \(number(point.longitude))"
    }

    /// ``decimal(_:)`` rounded to six decimal places, a tenth of a meter.
    static func rounded(_ point: GeoPoint) -> String {
        "\(number(round(point.latitude))), \(number(round(point.longitude)))"
    }

    private static func round(_ value: Double) -> Double {
        (value * 1e6).rounded() / 1e6
    }

    /// `53°33′14.3″ N, 9°59′08.3″ E`.
    static func degrees(_ point: GeoPoint) -> String {
        let latitude = degrees(point.latitude) + (point.latitude < 0 ? " S" : " N")
        return latitude + ", " + degrees(point.longitude) + (point.longitude < 0 ? " W" : " E")
    }

    /// The shortest text of a number; integers have no fraction.
    static func number(_ value: Double) -> String {
        Int(exactly: value)?.description ?? value.description
    }

    private static func degrees(_ value: Double) -> String {
        // Rounds once, to tenths of a second, so no component becomes 60.
        let tenths = Int((value.magnitude * 36_000).rounded())
        let (minutes, seconds) = ((tenths / 600) % 60, tenths % 600)
        return "\(tenths / 36_000)°\(twoDigits(minutes))′\(twoDigits(seconds / 10)).\(seconds % 10)″"
    }

    private static func twoDigits(_ value: Int) -> String {
        value < 10 ? "0\(value)" : String(value)
    }
}
