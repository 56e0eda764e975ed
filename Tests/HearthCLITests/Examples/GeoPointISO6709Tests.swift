import DocumentModel
import Testing

@testable import HearthCLI

@Suite("ISO 6709 coordinates")
struct GeoPointISO6709Tests {
    @Test(arguments: [
        ("+4230+00131", 42.5, 1.5166666666666666), ("-7750+16636", -77.83333333333333, 166.6),
        ("+404251-0740023", 40.714166666666664, -74.00638888888889), ("-0000-00000", -0.0, -0.0), ("+9000+18000", 90, 180),
    ])
    func `Parses both formats`(text: String, latitude: Double, longitude: Double) throws {
        #expect(try GeoPoint(iso6709: text.utf8) == GeoPoint(validatingLatitude: latitude, longitude: longitude))
    }

    @Test(arguments: [
        "", "+4230", "+4230+0131", "4230+00131", "+42300+00131", "+4230+001310", "+404251-07400", "+4260+00131", "+4a30+00131",
        "+9001+00000", "+4230+18001", "+4230+00131+", "+٤٢٣٠+00131",
    ])
    func `Rejects other formats`(text: String) {
        #expect(throws: StatusError.self) { try GeoPoint(iso6709: text.utf8) }
    }
}
