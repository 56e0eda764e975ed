import Foundation
import HearthClient
import Testing

@Suite("Client value types")
struct ClientValueTests {
    @Test(
        arguments: [(0, 0), (1, 999_999_000), (-1, 1_000), (253_402_300_799, 999_999_000), (-62_135_596_800, 0)]
            as [(Int64, Int32)]
    )
    func `A timestamp consists of seconds and nanoseconds`(seconds: Int64, nanoseconds: Int32) {
        let timestamp = Timestamp(seconds: seconds, nanoseconds: nanoseconds)
        #expect(timestamp.seconds == seconds)
        #expect(timestamp.nanoseconds == nanoseconds)
    }

    @Test func `Nanoseconds are truncated and dates rounded to microseconds`() {
        #expect(Timestamp(seconds: 1, nanoseconds: 1_999).nanoseconds == 1_000)
        let date = Date(timeIntervalSinceReferenceDate: 400_000_000.123_456)
        #expect(Timestamp(date: date).nanoseconds == 123_456_000)
        #expect(abs(Timestamp(date: date).dateValue().timeIntervalSince(date)) < 0.000_000_2)
        #expect(abs(Timestamp().dateValue().timeIntervalSinceNow) < 60)
    }

    @Test func `Distances between geo points are great-circle distances`() throws {
        let hamburg = GeoPoint(latitude: 53.553986, longitude: 9.9856482)
        let newYork = GeoPoint(latitude: 40.7414688, longitude: -74.0033873)
        #expect(abs(hamburg.distance(to: newYork) - 6_125_000) < 10_000)
        #expect(hamburg.distance(to: hamburg) == 0)
        #expect(GeoPoint(latitude: 0, longitude: 180).distance(to: GeoPoint(latitude: 0, longitude: -180)) == 0)
        #expect(throws: (any Error).self) { try GeoPoint(validatingLatitude: 90.1, longitude: 0) }
        #expect(throws: (any Error).self) { try GeoPoint(validatingLatitude: 0, longitude: .nan) }
    }

    @Test func `Errors have Firestore's domain and codes`() throws {
        #expect(FirestoreErrorDomain == "FIRFirestoreErrorDomain")
        #expect(FirestoreErrorCode.Code.allCases.map(\.rawValue) == Array(0...16))
        #expect(FirestoreErrorCode.unauthenticated.rawValue == 16)
        let foreign = NSError(domain: "x", code: 5)
        #expect(FirestoreErrorCode(foreign) == nil)
        #expect(FirestoreErrorCode(NSError(domain: FirestoreErrorDomain, code: 5))?.code == .notFound)
        #expect(FirestoreErrorCode(CancellationError()) == nil)
    }
}
