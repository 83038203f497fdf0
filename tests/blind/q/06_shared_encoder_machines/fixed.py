"""Vibration monitoring: one encoder, a decoder and a fault classifier.

For each batch there is one forward pass. The decoder learns to reconstruct the
spectrum, the classifier learns the fault class, and the encoder learns from the
sum of both losses. Every network has an optimizer of its own, which takes one
step per batch.
"""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


def build_networks(bins=40, latent=6, classes=3):
    encoder = nn.Sequential(nn.Linear(bins, 32), nn.Tanh(), nn.Linear(32, latent))
    decoder = nn.Sequential(nn.Linear(latent, 32), nn.Tanh(), nn.Linear(32, bins))
    classifier = nn.Sequential(nn.Linear(latent, 16), nn.ReLU(), nn.Linear(16, classes))
    return encoder, decoder, classifier


def synthetic_spectra(n=240, bins=40, classes=3):
    labels = torch.randint(0, classes, (n,))
    freq = torch.arange(bins).float()
    centre = 8.0 + 10.0 * labels.float().unsqueeze(1) + 2.0 * torch.randn(n, 1)
    spectra = torch.exp(-0.5 * ((freq - centre) / 3.0) ** 2)
    return TensorDataset(spectra + 0.1 * torch.randn(n, bins), labels)


def main():
    torch.manual_seed(18)
    loader = DataLoader(synthetic_spectra(), batch_size=40, shuffle=True)
    encoder, decoder, classifier = build_networks()
    enc_opt = torch.optim.Adam(encoder.parameters(), lr=3e-3)
    dec_opt = torch.optim.Adam(decoder.parameters(), lr=3e-3)
    cls_opt = torch.optim.Adam(classifier.parameters(), lr=3e-3)
    mse, ce = nn.MSELoss(), nn.CrossEntropyLoss()

    for epoch in range(5):
        for spectra, labels in loader:
            z = encoder(spectra)
            rec_loss = mse(decoder(z), spectra)
            cls_loss = ce(classifier(z), labels)

            enc_opt.zero_grad()
            dec_opt.zero_grad()
            cls_opt.zero_grad()

            rec_loss.backward(retain_graph=True)
            cls_loss.backward()

            dec_opt.step()
            enc_opt.step()
            cls_opt.step()
        print(f"epoch {epoch}: reconstruction {rec_loss.item():.4f}  "
              f"classification {cls_loss.item():.4f}")


if __name__ == "__main__":
    main()
