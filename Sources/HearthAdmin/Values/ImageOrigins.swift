import Synchronization
import UTF8Text

/// The origins whose images pages show as thumbnails, as the operator allows; none by default.
struct ImageOrigins: Sendable {
    /// The origins for the page that is being rendered.
    @TaskLocal static var current = ImageOrigins([])

    /// The origins without default ports, in lower case.
    private let origins: Set<UTF8Key>

    /// - Parameter origins: Origins such as `https://images.example.org`.
    init(_ origins: [String]) {
        self.origins = Set(origins.map { Self.normalized($0.utf8) })
    }

    /// The sources for the Content-Security-Policy, sorted.
    var sources: [String] { origins.sorted().map(\.string) }

    /// Returns whether pages show the target of a link: it is at an allowed origin, and its path ends as the names of images do.
    func allowsImage(of link: ExternalLink) -> Bool {
        guard !origins.isEmpty else { return false }
        let url = link.url.utf8
        return Self.hasImageName(url) && origins.contains(Self.normalized(link.origin))
    }

    private static let suffixes = [".avif", ".gif", ".jpeg", ".jpg", ".png", ".svg", ".webp"]

    private static func hasImageName(_ url: String.UTF8View) -> Bool {
        let path = url.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        return suffixes.contains { suffix in
            path.count > suffix.utf8.count && zip(path.suffix(suffix.utf8.count), suffix.utf8).allSatisfy { lowercase($0) == $1 }
        }
    }

    /// Returns an origin in lower case and without the default port of its scheme.
    private static func normalized(_ origin: some Collection<UInt8>) -> UTF8Key {
        var bytes = origin.map(lowercase)
        for (scheme, port) in [("https:", ":443"), ("http:", ":80")] where bytes.starts(with: scheme.utf8) {
            if bytes.suffix(port.utf8.count).elementsEqual(port.utf8) { bytes.removeLast(port.utf8.count) }
        }
        return UTF8Key(Substring(decoding: bytes, as: UTF8.self))
    }

    private static func lowercase(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}

/// The allowed origins of images, which a reload of the configuration replaces.
final class ImageOriginSetting: Sendable {
    private let origins = Mutex(ImageOrigins([]))

    var current: ImageOrigins {
        get { origins.withLock { $0 } }
        set { origins.withLock { $0 = newValue } }
    }
}
