import DocumentModel

/// A colour of eight bits each of red, green and blue.
struct RGBColor: Hashable {
    let red: UInt8
    let green: UInt8
    let blue: UInt8

    /// The colour as CSS writes it: `#f8f8ff`.
    var hex: String {
        "#" + Hexadecimal.encode([red, green, blue])
    }

    /// Words for the colour: its hue, or `gray` where it has none to speak of, and `dark` or `light` where it is.
    var tags: [String] {
        [hueName] + (lightness < 0.35 ? ["dark"] : lightness > 0.75 ? ["light"] : [])
    }

    private var levels: [Double] { [red, green, blue].map { Double($0) / 255 } }
    private var strongest: Double { levels.max() ?? 0 }
    private var weakest: Double { levels.min() ?? 0 }
    private var lightness: Double { (strongest + weakest) / 2 }

    private var hueName: String {
        guard strongest - weakest > 0.1 else {
            return switch lightness {
            case ..<0.1: "black"
            case 0.9...: "white"
            default: "gray"
            }
        }
        return switch hue {
        case ..<15: "red"
        case ..<45: "orange"
        case ..<70: "yellow"
        case ..<165: "green"
        case ..<200: "cyan"
        case ..<260: "blue"
        case ..<290: "purple"
        case ..<345: "pink"
        default: "red"
        }
    }

    /// Degrees around the colour wheel, red at 0.
    private var hue: Double {
        let (red, green, blue) = (levels[0], levels[1], levels[2])
        let chroma = strongest - weakest
        let sixths =
            if strongest == red {
                (green - blue) / chroma
            } else if strongest == green {
                (blue - red) / chroma + 2
            } else {
                (red - green) / chroma + 4
            }
        return sixths < 0 ? sixths * 60 + 360 : sixths * 60
    }
}
